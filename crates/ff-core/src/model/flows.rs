//! The flows of the model, without the executions in them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::part;
use crate::backend::snapshot::Snapshot;
use crate::flow::{Edge, Flow, FlowChange, FlowEvent, FlowIndex, FlowKeyEntry, Group, entries};
use crate::limits;
use crate::rule::index::Score;
use crate::rule::view::{EdgesOf, MembersOf, Side};
use crate::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, TimestampMs};

/// Flows, their edges and groups, and their events.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    pub(super) flows: BTreeMap<FlowId, Flow>,
    pub(super) edges: BTreeMap<(FlowId, EdgeId), Edge>,
    pub(super) groups: BTreeMap<ExecutionId, Group>,
    pub(super) keys: BTreeMap<(FlowId, IdempotencyKey), FlowKeyEntry>,
    pub(super) events: BTreeMap<FlowId, VecDeque<FlowEvent>>,
    sides: BTreeSet<(ExecutionId, Side, EdgeId)>,
    members: BTreeSet<(FlowId, ExecutionId)>,
    due: BTreeMap<u16, BTreeSet<(TimestampMs, FlowId)>>,
    indexes: BTreeMap<(u16, FlowIndex), BTreeMap<FlowId, Score>>,
}

impl Flows {
    /// Applies a change to a flow.
    pub(super) fn apply(&mut self, change: FlowChange) {
        let (id, partition) = (change.after.id, change.after.partition);
        if let Some(before) = self.flows.get(&id) {
            for (index, _) in entries(before) {
                self.indexes.entry((partition, index)).or_default().remove(&id);
            }
            if let (Some(at), Some(due)) = (before.next_due(), self.due.get_mut(&partition)) {
                due.remove(&(at, id));
            }
        }
        for edge in change.edges {
            self.sides.insert((edge.upstream_execution_id, Side::Outgoing, edge.id));
            self.sides.insert((edge.downstream_execution_id, Side::Incoming, edge.id));
            self.edges.insert((edge.flow_id, edge.id), edge);
        }
        self.groups.extend(change.groups.into_iter().map(|group| (group.downstream_execution_id, group)));
        self.keys.extend(change.key.map(|entry| ((id, entry.key.clone()), entry)));
        change.forgotten.iter().for_each(|member| self.forget(&id, member));
        if change.gone {
            self.flows.remove(&id);
            self.events.remove(&id);
            self.keys.retain(|(flow, _), _| *flow != id);
            return;
        }
        let events = self.events.entry(id).or_default();
        events.extend(change.events);
        let surplus = events.len().saturating_sub(limits::FLOW_EVENTS);
        events.drain(..surplus);
        for (index, score) in entries(&change.after) {
            self.indexes.entry((partition, index)).or_default().insert(id, score);
        }
        if let Some(at) = change.after.next_due() {
            self.due.entry(partition).or_default().insert((at, id));
        }
        self.flows.insert(id, change.after);
    }

    /// Records an execution as a member of its flow.
    pub(super) fn add_member(&mut self, flow: FlowId, member: ExecutionId) {
        self.members.insert((flow, member));
    }

    /// Removes a member from its flow, with its group and the edges into it. The records of the execution are removed
    /// elsewhere.
    fn forget(&mut self, flow: &FlowId, member: &ExecutionId) {
        self.members.remove(&(*flow, *member));
        self.groups.remove(member);
        let entering = |(of, side, _): &(ExecutionId, Side, EdgeId)| of == member && *side == Side::Incoming;
        let gone: Vec<_> = self.sides.iter().copied().filter(entering).collect();
        for side in gone {
            if let Some(edge) = self.edges.remove(&(*flow, side.2)) {
                self.sides.remove(&(edge.upstream_execution_id, Side::Outgoing, edge.id));
            }
            self.sides.remove(&side);
        }
    }

    pub(super) fn edges_of(&self, query: &EdgesOf) -> Vec<EdgeId> {
        let first = query.after.unwrap_or(EdgeId::from_uuid(uuid::Uuid::nil()));
        let own = self.sides.range((query.member, query.side, first)..);
        own.take_while(|(member, side, _)| (*member, *side) == (query.member, query.side))
            .map(|(_, _, edge)| *edge)
            .filter(|edge| Some(*edge) != query.after)
            .take(query.limit)
            .collect()
    }

    pub(super) fn members_of(&self, query: &MembersOf) -> Vec<ExecutionId> {
        let first = query.after.unwrap_or(ExecutionId::new(0, uuid::Uuid::nil()));
        let own = self.members.range((query.flow, first)..).take_while(|(flow, _)| *flow == query.flow);
        own.map(|(_, member)| *member).filter(|member| Some(*member) != query.after).take(query.limit).collect()
    }

    pub(super) fn due(&self, partition: u16) -> impl Iterator<Item = (TimestampMs, FlowId)> {
        self.due.get(&partition).into_iter().flatten().copied()
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        let here = |id: &FlowId| self.flows.get(id).is_some_and(|flow| flow.partition == partition);
        snapshot.flows = part(&self.flows, here);
        snapshot.edges = part(&self.edges, |(flow, _)| here(flow));
        snapshot.groups = super::here(&self.groups, partition);
        snapshot.flow_keys = part(&self.keys, |(flow, _)| here(flow));
        let events = self.events.iter().filter(|(flow, _)| here(flow));
        snapshot.flow_events = events.map(|(id, events)| (*id, events.iter().cloned().collect())).collect();
        let indexes = self.indexes.iter().filter(|((of, _), members)| *of == partition && !members.is_empty());
        snapshot.flow_indexes = indexes.map(|((_, index), members)| (*index, members.clone())).collect();
    }
}
