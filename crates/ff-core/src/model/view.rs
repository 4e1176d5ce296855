//! The view of the model for rules. All records are in memory, so nothing is ever missed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use crate::api_key::ApiKey;
use crate::budget::UsageReportEntry;
use crate::event::Feed;
use crate::execution::Execution;
use crate::fairness::{Turn, TurnName, TurnsQuery};
use crate::flow::{Edge, Flow, FlowKeyEntry, Group};
use crate::lane::Lane;
use crate::limits;
use crate::payload::Payload;
use crate::quota::{QuotaRow, QuotaRowName, QuotaSet};
use crate::rule::change::KeyEntry;
use crate::rule::index::{Index, Score, aged_score};
use crate::rule::view::{DueQuery, EdgesOf, EligibleQuery, MembersOf, Miss, View};
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::SignalKeyEntry;
use crate::singleton::KeyQueue;
use crate::step::{Step, StepHead, StepRef};
use crate::stream::StreamRecord;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{
    AttemptIndex, EdgeId, ExecutionId, FairKey, FlowId, IdempotencyKey, KeyId, Kind, LaneId, Namespace, Priority,
    QueueName, QuotaPolicyId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use crate::worker::Worker;

impl View for Model {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        Ok(self.executions.get(id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        Ok(self.keys.get(&(namespace.clone(), key.clone())))
    }

    fn key_queue(&self, _: u16, namespace: &Namespace, name: &QueueName) -> Result<Option<&KeyQueue>, Miss> {
        Ok(self.key_queues.get(&(namespace.clone(), name.clone())))
    }

    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss> {
        Ok(self.waiting.waitpoints.get(&(*execution, *waitpoint)))
    }

    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss> {
        Ok(self.waiting.suspend_keys.get(&(*execution, key.clone())))
    }

    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss> {
        Ok(self.waiting.signal_keys.get(&(*execution, *waitpoint, key.clone())))
    }

    fn stream(&self, execution: &ExecutionId, attempt: AttemptIndex) -> Result<Option<&StreamRecord>, Miss> {
        Ok(self.streams.records.get(&(*execution, attempt)))
    }

    fn step(&self, execution: &ExecutionId, step: &StepRef) -> Result<Option<&Step>, Miss> {
        Ok(self.steps.of(execution).find(|recorded| recorded.step == *step))
    }

    fn step_heads(&self, execution: &ExecutionId) -> Result<Vec<StepHead>, Miss> {
        Ok(self.steps.of(execution).map(Step::head).collect())
    }

    fn payload(&self, execution: &ExecutionId) -> Result<Option<&Payload>, Miss> {
        Ok(self.payloads.get(execution))
    }

    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss> {
        Ok(self.waiting.rings.get(&partition))
    }

    fn flow(&self, id: &FlowId) -> Result<Option<&Flow>, Miss> {
        Ok(self.flows.flows.get(id))
    }

    fn edge(&self, flow: &FlowId, edge: &EdgeId) -> Result<Option<&Edge>, Miss> {
        Ok(self.flows.edges.get(&(*flow, *edge)))
    }

    fn group(&self, downstream: &ExecutionId) -> Result<Option<&Group>, Miss> {
        Ok(self.flows.groups.get(downstream))
    }

    fn flow_key(&self, flow: &FlowId, key: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss> {
        Ok(self.flows.keys.get(&(*flow, key.clone())))
    }

    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss> {
        Ok(self.flows.edges_of(query))
    }

    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss> {
        Ok(self.flows.members_of(query))
    }

    fn due_flows(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        Ok(self.flows.due(query.partition).take(query.limit).collect())
    }

    fn lane(&self, partition: u16, lane: &LaneId) -> Result<Option<&Lane>, Miss> {
        Ok(self.lanes.get(&(partition, lane.clone())))
    }

    fn active(&self, partition: u16, lane: &LaneId) -> Result<u32, Miss> {
        let held = self.indexes.get(&(partition, Index::LaneActive(lane.clone()))).map_or(0, BTreeSet::len);
        Ok(u32::try_from(held).unwrap_or(u32::MAX))
    }

    fn api_key(&self, id: &KeyId) -> Result<Option<&ApiKey>, Miss> {
        Ok(self.api_keys.get(id))
    }

    fn turn(&self, name: &TurnName) -> Result<Option<&Turn>, Miss> {
        Ok(self.turns.find(name))
    }

    fn turns(&self, query: &TurnsQuery) -> Result<Vec<(u64, FairKey)>, Miss> {
        Ok(self.turns.first(query))
    }

    fn quotas(&self, partition: u16, namespace: &Namespace) -> Result<Option<&QuotaSet>, Miss> {
        Ok(self.quotas.sets.get(&(partition, namespace.clone())))
    }

    fn usage_report(&self, execution: &ExecutionId, id: &IdempotencyKey) -> Result<Option<&UsageReportEntry>, Miss> {
        Ok(self.quotas.reports.get(&(*execution, id.clone())))
    }

    fn quota_row(&self, policy: &QuotaPolicyId, name: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss> {
        Ok(self.quotas.rows.get(&(*policy, name.clone())))
    }

    fn schedule(&self, _: u16, schedule: &ScheduleRef) -> Result<Option<&Schedule>, Miss> {
        Ok(self.schedules.get(schedule))
    }

    fn worker(&self, instance: &WorkerInstanceId) -> Result<Option<&Worker>, Miss> {
        Ok(self.workers.get(instance))
    }

    fn feed(&self, partition: u16) -> Result<Option<&Feed>, Miss> {
        Ok(self.events.feed(partition))
    }

    fn eligible(&self, query: &EligibleQuery) -> Result<Vec<ExecutionId>, Miss> {
        let (lane, kinds) = (&query.lane, query.kinds.iter().collect::<BTreeSet<_>>());
        let queues = query.classes.iter().flat_map(|class| {
            let of_kind = |kind: &&Kind| Index::queue(lane.clone(), (*kind).clone(), class.clone(), query.key.clone());
            let any = kinds.is_empty().then(|| Index::LaneEligible(lane.clone(), class.clone()));
            kinds.iter().map(of_kind).chain(any).collect::<Vec<_>>()
        });
        let mut first: Vec<_> = queues.flat_map(|queue| self.first_of(query, queue)).collect();
        first.sort_unstable();
        first.truncate(query.limit);
        Ok(first.into_iter().map(|(_, id)| id).collect())
    }

    fn due(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
        Ok(self.due.get(&query.partition).into_iter().flatten().take(query.limit).copied().collect())
    }
}

impl Model {
    /// Returns the first executions of a queue, with the scores that order them. With ageing, these are the oldest
    /// executions of each of the highest priorities: within one priority the oldest always goes first.
    fn first_of(&self, query: &EligibleQuery, queue: Index) -> Vec<(Score, ExecutionId)> {
        let queue = self.indexes.get(&(query.partition, queue)).into_iter().flatten();
        let Some(ageing_ms) = query.ageing_ms else { return queue.take(query.limit).copied().collect() };
        let mut by_priority: BTreeMap<Reverse<Priority>, Vec<(Score, ExecutionId)>> = BTreeMap::new();
        for execution in queue.filter_map(|(_, id)| self.executions.get(id)) {
            let score = aged_score(execution.priority, execution.created_at, ageing_ms);
            by_priority.entry(Reverse(execution.priority)).or_default().push((score, execution.id));
        }
        let highest = by_priority.into_values().take(limits::AGEING_PRIORITIES);
        highest.flat_map(|oldest| oldest.into_iter().take(query.limit)).collect()
    }
}
