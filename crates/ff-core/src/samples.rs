//! Executions in every phase, for the tests of rules.

use std::collections::HashMap;

use uuid::Uuid;

use crate::api_key::ApiKey;
use crate::budget::UsageReportEntry;
use crate::change::KeyEntry;
use crate::engine_error::Refusal;
use crate::entropy::{Entropy, SeededEntropy};
use crate::event::Feed;
use crate::execution::contracts::{SubmitArgs, SubmittedExecution};
use crate::execution::{Execution, Phase};
use crate::fairness::{Turn, TurnName, TurnsQuery};
use crate::flow::{Edge, Flow, FlowKeyEntry, Group};
use crate::lane::Lane;
use crate::lease::contracts::ClaimArgs;
use crate::lease::{Fence, Holder};
use crate::operation::{Command, Conditions};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::quota::{QuotaRow, QuotaRowName, QuotaSet};
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::SignalKeyEntry;
use crate::singleton::KeyQueue;
use crate::step::{Step, StepHead, StepRef};
use crate::stream::StreamRecord;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{
    AttemptIndex, EdgeId, ExecutionId, FairKey, FlowId, IdempotencyKey, KeyId, Kind, LaneId, Namespace, QueueName,
    QuotaPolicyId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use crate::view::{DueQuery, EdgesOf, EligibleQuery, MembersOf, Miss, Stop, View};
use crate::worker::Worker;

/// Returns the time `ms` milliseconds after the creation of the samples.
pub(crate) fn at(ms: u64) -> TimestampMs {
    TimestampMs(1_700_000_000_000) + ms
}

/// Returns sample conditions at a given time.
pub(crate) fn conditions(now: TimestampMs) -> Conditions {
    Conditions { partitions: PartitionConfig::default(), nonce: SeededEntropy::new(1).nonce(), now }
}

/// Returns a submission that is always the same.
pub(crate) fn work() -> SubmitArgs {
    SubmitArgs { uuid: Uuid::from_u128(1), ..SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1")) }
}

/// Returns a newly submitted execution.
pub(crate) fn waiting() -> Execution {
    let mut records = RecordSet::default();
    let id = records.submit(&work(), at(0)).unwrap().execution_id;
    records.executions[&id].clone()
}

/// Returns an execution that a worker has held since `at(0)`, with a lease of thirty seconds.
pub(crate) fn running() -> Execution {
    let mut records = RecordSet::default();
    records.submit(&work(), at(0)).unwrap();
    let args = ClaimArgs::new(waiting().id.partition(), Holder::parse("w", "w-1").unwrap());
    args.decide(&records, &conditions(at(0))).unwrap().changes.remove(0).after
}

/// Returns the fence of an execution's lease.
pub(crate) fn held(execution: &Execution) -> Fence {
    let Phase::Running { lease } = &execution.phase else { panic!("it has no lease") };
    lease.fence
}

/// A view of a few records, all of them loaded.
#[derive(Default)]
pub(crate) struct RecordSet {
    pub(crate) executions: HashMap<ExecutionId, Execution>,
    keys: HashMap<(Namespace, IdempotencyKey), KeyEntry>,
    pub(crate) step_heads: HashMap<ExecutionId, Vec<StepHead>>,
}

impl RecordSet {
    pub(crate) fn submit(&mut self, args: &SubmitArgs, now: TimestampMs) -> Result<SubmittedExecution, Refusal> {
        let decision = match args.decide(self, &conditions(now)) {
            Ok(decision) => decision,
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Miss(miss)) => panic!("a record set misses nothing: {miss:?}"),
        };
        for change in decision.changes {
            if let Some(key) = change.key {
                self.keys.insert((key.namespace.clone(), key.key.clone()), key);
            }
            self.executions.insert(change.after.id, change.after);
        }
        Ok(decision.reply)
    }

    pub(crate) fn len(&self) -> usize {
        self.executions.len()
    }
}

impl View for RecordSet {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        Ok(self.executions.get(id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        Ok(self.keys.get(&(namespace.clone(), key.clone())))
    }

    fn key_queue(&self, _: u16, _: &Namespace, _: &QueueName) -> Result<Option<&KeyQueue>, Miss> {
        Ok(None)
    }

    fn waitpoint(&self, _: &ExecutionId, _: &WaitpointId) -> Result<Option<&Waitpoint>, Miss> {
        Ok(None)
    }

    fn suspend_key(&self, _: &ExecutionId, _: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss> {
        Ok(None)
    }

    fn signal_key(
        &self,
        _: &ExecutionId,
        _: &WaitpointId,
        _: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss> {
        Ok(None)
    }

    fn stream(&self, _: &ExecutionId, _: AttemptIndex) -> Result<Option<&StreamRecord>, Miss> {
        Ok(None)
    }

    fn step(&self, _: &ExecutionId, _: &StepRef) -> Result<Option<&Step>, Miss> {
        Ok(None)
    }

    fn step_heads(&self, id: &ExecutionId) -> Result<Vec<StepHead>, Miss> {
        Ok(self.step_heads.get(id).cloned().unwrap_or_default())
    }

    fn payload(&self, _: &ExecutionId) -> Result<Option<&Payload>, Miss> {
        Ok(None)
    }

    fn ring(&self, _: u16) -> Result<Option<&KeyRing>, Miss> {
        Ok(None)
    }

    fn flow(&self, _: &FlowId) -> Result<Option<&Flow>, Miss> {
        Ok(None)
    }

    fn edge(&self, _: &FlowId, _: &EdgeId) -> Result<Option<&Edge>, Miss> {
        Ok(None)
    }

    fn group(&self, _: &ExecutionId) -> Result<Option<&Group>, Miss> {
        Ok(None)
    }

    fn flow_key(&self, _: &FlowId, _: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss> {
        Ok(None)
    }

    fn edges(&self, _: &EdgesOf) -> Result<Vec<EdgeId>, Miss> {
        Ok(vec![])
    }

    fn members(&self, _: &MembersOf) -> Result<Vec<ExecutionId>, Miss> {
        Ok(vec![])
    }

    fn due_flows(&self, _: &DueQuery) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        Ok(vec![])
    }

    fn lane(&self, _: u16, _: &LaneId) -> Result<Option<&Lane>, Miss> {
        Ok(None)
    }

    fn active(&self, _: u16, _: &LaneId) -> Result<u32, Miss> {
        Ok(0)
    }

    fn turn(&self, _: &TurnName) -> Result<Option<&Turn>, Miss> {
        Ok(None)
    }

    fn turns(&self, _: &TurnsQuery) -> Result<Vec<(u64, FairKey)>, Miss> {
        Ok(vec![])
    }

    fn quotas(&self, _: u16, _: &Namespace) -> Result<Option<&QuotaSet>, Miss> {
        Ok(None)
    }

    fn usage_report(&self, _: &ExecutionId, _: &IdempotencyKey) -> Result<Option<&UsageReportEntry>, Miss> {
        Ok(None)
    }

    fn quota_row(&self, _: &QuotaPolicyId, _: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss> {
        Ok(None)
    }

    fn worker(&self, _: &WorkerInstanceId) -> Result<Option<&Worker>, Miss> {
        Ok(None)
    }

    fn schedule(&self, _: u16, _: &ScheduleRef) -> Result<Option<&Schedule>, Miss> {
        Ok(None)
    }

    fn api_key(&self, _: &KeyId) -> Result<Option<&ApiKey>, Miss> {
        Ok(None)
    }

    fn feed(&self, _: u16) -> Result<Option<&Feed>, Miss> {
        Ok(None)
    }

    fn eligible(&self, _: &EligibleQuery) -> Result<Vec<ExecutionId>, Miss> {
        Ok(self.executions.keys().copied().collect())
    }

    fn due(&self, _: &DueQuery) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
        Ok(self.executions.values().filter_map(|e| Some((e.next_due()?.0, e.id))).collect())
    }
}
