//! A view that has nothing until it is asked for: what a rule misses is loaded and the rule runs again, as a store does it.

use std::collections::HashSet;

use ff_core::change::KeyEntry;
use ff_core::event::Feed;
use ff_core::execution::Execution;
use ff_core::flow::{Edge, Flow, FlowKeyEntry, Group};
use ff_core::key::ApiKey;
use ff_core::lane::Lane;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Decision, Operation};
use ff_core::signal::SignalKeyEntry;
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{
    EdgeId, ExecutionId, FlowId, IdempotencyKey, KeyId, LaneId, Namespace, TimestampMs, WaitpointId, WorkerInstanceId,
};
use ff_core::view::{DueFirst, EdgesOf, Eligible, MembersOf, Miss, Stop, View};
use ff_core::worker::Worker;

/// Decides an operation over records that are loaded as they are missed; says how often it had to run.
pub(crate) fn decide_lazily(model: &Model, operation: &Operation, at: &Conditions) -> (Result<Decision, Stop>, usize) {
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
    /// Loads what was missed; false when some of it was there already.
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

impl View for Lazy<'_> {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        self.have(Miss::Execution(*id), self.model.execution(id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        self.have(Miss::Key(namespace.clone(), key.clone()), self.model.key(namespace, key))
    }

    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss> {
        self.have(Miss::Waitpoint(*execution, *waitpoint), self.model.waitpoint(execution, waitpoint))
    }

    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss> {
        self.have(Miss::SuspendKey(*execution, key.clone()), self.model.suspend_key(execution, key))
    }

    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss> {
        let found = self.model.signal_key(execution, waitpoint, key);
        self.have(Miss::SignalKey(*execution, *waitpoint, key.clone()), found)
    }

    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss> {
        self.have(Miss::Ring(partition), self.model.ring(partition))
    }

    fn flow(&self, id: &FlowId) -> Result<Option<&Flow>, Miss> {
        self.have(Miss::Flow(*id), self.model.flow(id))
    }

    fn edge(&self, flow: &FlowId, edge: &EdgeId) -> Result<Option<&Edge>, Miss> {
        self.have(Miss::Edge(*flow, *edge), self.model.edge(flow, edge))
    }

    fn group(&self, downstream: &ExecutionId) -> Result<Option<&Group>, Miss> {
        self.have(Miss::Group(*downstream), self.model.group(downstream))
    }

    fn flow_key(&self, flow: &FlowId, key: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss> {
        self.have(Miss::FlowKey(*flow, key.clone()), self.model.flow_key(flow, key))
    }

    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss> {
        self.have(Miss::Edges(*query), self.model.edges(query))
    }

    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss> {
        self.have(Miss::Members(*query), self.model.members(query))
    }

    fn due_flows(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        self.have(Miss::DueFlows(*query), self.model.due_flows(query))
    }

    fn lane(&self, partition: u16, lane: &LaneId) -> Result<Option<&Lane>, Miss> {
        self.have(Miss::Lane(partition, lane.clone()), self.model.lane(partition, lane))
    }

    fn active(&self, partition: u16, lane: &LaneId) -> Result<u32, Miss> {
        self.have(Miss::Active(partition, lane.clone()), self.model.active(partition, lane))
    }

    fn worker(&self, instance: &WorkerInstanceId) -> Result<Option<&Worker>, Miss> {
        self.have(Miss::Worker(instance.clone()), self.model.worker(instance))
    }

    fn api_key(&self, id: &KeyId) -> Result<Option<&ApiKey>, Miss> {
        self.have(Miss::ApiKey(id.clone()), self.model.api_key(id))
    }

    fn feed(&self, partition: u16) -> Result<Option<&Feed>, Miss> {
        self.have(Miss::Feed(partition), self.model.feed(partition))
    }

    fn eligible(&self, query: &Eligible) -> Result<Vec<ExecutionId>, Miss> {
        self.have(Miss::Eligible(query.clone()), self.model.eligible(query))
    }

    fn due(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
        self.have(Miss::Due(*query), self.model.due(query))
    }
}
