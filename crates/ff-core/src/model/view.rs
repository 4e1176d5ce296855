//! The model as rules read it: everything is at hand, so nothing is ever missed.

use std::collections::BTreeSet;

use super::Model;
use crate::change::KeyEntry;
use crate::execution::Execution;
use crate::flow::{Edge, Flow, FlowKeyEntry, Group};
use crate::index::Index;
use crate::signal::SignalKeyEntry;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, Namespace, TimestampMs, WaitpointId};
use crate::view::{DueFirst, EdgesOf, Eligible, MembersOf, Miss, View};

impl View for Model {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        Ok(self.executions.get(id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        Ok(self.keys.get(&(namespace.clone(), key.clone())))
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

    fn due_flows(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        Ok(self.flows.due(query.partition).take(query.limit).collect())
    }

    fn eligible(&self, query: &Eligible) -> Result<Vec<ExecutionId>, Miss> {
        let members = |index| self.indexes.get(&(query.partition, index)).into_iter().flatten();
        if query.kinds.is_empty() {
            let waiting = members(Index::LaneEligible(query.lane.clone()));
            return Ok(waiting.take(query.limit).map(|(_, id)| *id).collect());
        }
        let kinds: BTreeSet<_> = query.kinds.iter().collect();
        let mut first: Vec<_> = kinds
            .into_iter()
            .flat_map(|kind| {
                members(Index::LaneEligibleKind(query.lane.clone(), kind.clone())).take(query.limit).copied()
            })
            .collect();
        first.sort_unstable();
        first.truncate(query.limit);
        Ok(first.into_iter().map(|(_, id)| id).collect())
    }

    fn due(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
        Ok(self.due.get(&query.partition).into_iter().flatten().take(query.limit).copied().collect())
    }
}
