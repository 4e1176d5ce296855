//! A view that is empty at first. Records that a rule misses are loaded, and the rule runs again, as in a store.

use std::collections::HashSet;

use ff_core::step::Step as RecordedStep;
use ff_core::worker::Worker;

use super::{Step, Verdict, is_member};
use crate::prelude::*;

/// Maximum number of runs until a rule has all its records. A chain takes three lookups per hop.
const RUNS: usize = 4 * limits::FLOW_STEP;
/// The same limit for an operation on a lane, when there are no members of flows.
const RUNS_OF_LANES: usize = 12;

/// Checks that a rule decides the same when its records are loaded on demand, within the allowed number of runs.
pub(super) fn decides_the_same(step: &Step<'_>) -> Verdict {
    let (lazily, runs) = decide_lazily(step.before, step.operation, &step.at);
    let same = lazily == step.operation.decide(step.before, &step.at);
    let members = || step.before.executions().filter(|execution| is_member(execution)).count();
    let runs_at_most = match step.operation {
        // The search for a cycle takes two lookups per hop.
        Operation::GrowFlow(_) => RUNS + 2 * members(),
        _ if step.before.executions().any(is_member) => RUNS,
        Operation::Allot(_)
        | Operation::ClaimGranted(_)
        | Operation::RecountLane(_)
        | Operation::SettleLane(_)
        | Operation::ConfigureLane(_)
        | Operation::RegisterClasses(_)
        | Operation::CopyLane(_) => RUNS_OF_LANES,
        _ => RUNS,
    };
    if same && runs <= runs_at_most { Ok(()) } else { Err(format!("decides the same lazily: {same}, in {runs} runs")) }
}

/// Decides an operation with records that are loaded on demand. Returns the decision and the number of runs.
pub fn decide_lazily(model: &Model, operation: &Operation, at: &Conditions) -> (Result<Decision, Stop>, usize) {
    let mut lazy = Lazy { model, loaded: HashSet::new() };
    for runs in 1.. {
        match operation.decide(&lazy, at) {
            Err(Stop::Miss(miss)) => assert!(lazy.load(miss), "missed twice"),
            decided => return (decided, runs),
        }
    }
    unreachable!("a rule decides, or misses something new")
}

struct Lazy<'m> {
    model: &'m Model,
    loaded: HashSet<Miss>,
}

impl Lazy<'_> {
    /// Loads the missing records. Returns false if all of them were already loaded.
    fn load(&mut self, miss: Miss) -> bool {
        match miss {
            Miss::All(several) => several.into_iter().map(|miss| self.load(miss)).fold(false, |any, new| any | new),
            one => self.loaded.insert(one),
        }
    }

    fn have<T>(&self, miss: Miss, found: Result<T, Miss>) -> Result<T, Miss> {
        if self.loaded.contains(&miss) { found } else { Err(miss) }
    }
}

/// Implements the queries of a view: each answers from the model if its miss was loaded, and misses otherwise.
macro_rules! answered_when_loaded {
    ($($question:ident($($name:ident: $type:ty),+) -> $found:ty, $miss:expr;)+) => {
        impl View for Lazy<'_> {
            $(fn $question(&self, $($name: $type),+) -> Result<$found, Miss> {
                self.have($miss, View::$question(self.model, $($name),+))
            })+
        }
    };
}

answered_when_loaded! {
    execution(id: &ExecutionId) -> Option<&Execution>, Miss::Execution(*id);
    key(namespace: &Namespace, key: &IdempotencyKey) -> Option<&KeyEntry>, Miss::Key(namespace.clone(), key.clone());
    key_queue(at: u16, of: &Namespace, name: &QueueName) -> Option<&KeyQueue>,
        Miss::KeyQueue(at, of.clone(), name.clone());
    waitpoint(of: &ExecutionId, id: &WaitpointId) -> Option<&Waitpoint>, Miss::Waitpoint(*of, *id);
    suspend_key(of: &ExecutionId, key: &IdempotencyKey) -> Option<&SuspendKeyEntry>, Miss::SuspendKey(*of, key.clone());
    signal_key(of: &ExecutionId, to: &WaitpointId, key: &IdempotencyKey) -> Option<&SignalKeyEntry>,
        Miss::SignalKey(*of, *to, key.clone());
    stream(of: &ExecutionId, attempt: AttemptIndex) -> Option<&StreamRecord>, Miss::Stream(*of, attempt);
    step(of: &ExecutionId, step: &StepRef) -> Option<&RecordedStep>, Miss::Step(*of, step.clone());
    step_heads(of: &ExecutionId) -> Vec<StepHead>, Miss::StepHeads(*of);
    payload(of: &ExecutionId) -> Option<&Payload>, Miss::Payload(*of);
    ring(partition: u16) -> Option<&KeyRing>, Miss::Ring(partition);
    flow(id: &FlowId) -> Option<&Flow>, Miss::Flow(*id);
    edge(flow: &FlowId, edge: &EdgeId) -> Option<&Edge>, Miss::Edge(*flow, *edge);
    group(downstream: &ExecutionId) -> Option<&Group>, Miss::Group(*downstream);
    flow_key(flow: &FlowId, key: &IdempotencyKey) -> Option<&FlowKeyEntry>, Miss::FlowKey(*flow, key.clone());
    edges(query: &EdgesOf) -> Vec<EdgeId>, Miss::Edges(*query);
    members(query: &MembersOf) -> Vec<ExecutionId>, Miss::Members(*query);
    due_flows(query: &DueQuery) -> Vec<(TimestampMs, FlowId)>, Miss::DueFlows(*query);
    lane(partition: u16, lane: &LaneId) -> Option<&Lane>, Miss::Lane(partition, lane.clone());
    active(partition: u16, lane: &LaneId) -> u32, Miss::Active(partition, lane.clone());
    turn(name: &TurnName) -> Option<&Turn>, Miss::Turn(name.clone());
    turns(query: &TurnsQuery) -> Vec<(u64, FairKey)>, Miss::Turns(query.clone());
    quotas(partition: u16, namespace: &Namespace) -> Option<&QuotaSet>, Miss::Quotas(partition, namespace.clone());
    quota_row(policy: &QuotaPolicyId, name: &QuotaRowName) -> Option<&QuotaRow>, Miss::QuotaRow(*policy, name.clone());
    schedule(partition: u16, schedule: &ScheduleRef) -> Option<&Schedule>, Miss::Schedule(partition, schedule.clone());
    usage_report(of: &ExecutionId, id: &IdempotencyKey) -> Option<&UsageReportEntry>, Miss::UsageReport(*of, id.clone());
    worker(instance: &WorkerInstanceId) -> Option<&Worker>, Miss::Worker(instance.clone());
    api_key(id: &KeyId) -> Option<&ApiKey>, Miss::ApiKey(id.clone());
    feed(partition: u16) -> Option<&Feed>, Miss::Feed(partition);
    eligible(query: &EligibleQuery) -> Vec<ExecutionId>, Miss::Eligible(query.clone());
    due(query: &DueQuery) -> Vec<(TimestampMs, ExecutionId)>, Miss::Due(*query);
}
