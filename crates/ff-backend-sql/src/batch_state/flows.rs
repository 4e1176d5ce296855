//! Flows in the batch state: loaded records and writes.

use std::collections::{BTreeSet, HashMap};

use ff_core::flow::{Edge, Flow, FlowChange, FlowEvent, FlowKeyEntry, Group};
use ff_core::limits;
use ff_core::rule::view::{DueQuery, EdgesOf, MembersOf, Side};
use ff_core::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, TimestampMs};

use super::{IndexPrefix, RecordSet};

/// Flows, their edges, groups and events, and the lists between them.
#[derive(Default)]
pub(crate) struct Flows {
    pub(crate) flows: RecordSet<FlowId, Flow>,
    pub(crate) edges: RecordSet<(FlowId, EdgeId), Edge>,
    pub(crate) groups: RecordSet<ExecutionId, Group>,
    pub(crate) keys: RecordSet<(FlowId, IdempotencyKey), FlowKeyEntry>,
    /// New events of flows.
    pub(crate) events: Vec<(FlowId, FlowEvent)>,
    /// Deleted flows, with all their rows.
    pub(crate) gone: Vec<FlowId>,
    ends: HashMap<EdgeRange, IndexPrefix<EdgeId>>,
    members: HashMap<Members, IndexPrefix<ExecutionId>>,
    due: HashMap<u16, IndexPrefix<(TimestampMs, FlowId)>>,
    /// New edges, under both their ends.
    added: BTreeSet<(EdgeRange, EdgeId)>,
    /// New members.
    joined: BTreeSet<(FlowId, ExecutionId)>,
}

/// The edges of a member on one side, after a given edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EdgeRange {
    pub(crate) flow: FlowId,
    pub(crate) member: ExecutionId,
    pub(crate) side: Side,
    pub(crate) after: Option<EdgeId>,
}

impl EdgeRange {
    /// Returns the range of all edges of a member on one side.
    fn all(flow: FlowId, member: ExecutionId, side: Side) -> Self {
        Self { flow, member, side, after: None }
    }
}

/// The members of a flow after a given member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Members {
    pub(crate) flow: FlowId,
    pub(crate) after: Option<ExecutionId>,
}

/// Returns the query of every edge into a member.
pub(crate) fn all_into(flow: FlowId, member: ExecutionId) -> EdgesOf {
    EdgesOf { flow, member, side: Side::Incoming, after: None, limit: limits::NODE_EDGES }
}

impl From<&EdgesOf> for EdgeRange {
    fn from(query: &EdgesOf) -> Self {
        let EdgesOf { flow, member, side, after, .. } = *query;
        Self { flow, member, side, after }
    }
}

impl From<&MembersOf> for Members {
    fn from(query: &MembersOf) -> Self {
        Self { flow: query.flow, after: query.after }
    }
}

impl Flows {
    pub(crate) fn lay_ends(&mut self, ends: EdgeRange, list: IndexPrefix<EdgeId>) {
        self.ends.insert(ends, list);
    }

    pub(crate) fn lay_members(&mut self, members: Members, list: IndexPrefix<ExecutionId>) {
        self.members.insert(members, list);
    }

    pub(crate) fn lay_due(&mut self, partition: u16, list: IndexPrefix<(TimestampMs, FlowId)>) {
        self.due.insert(partition, list);
    }

    /// Returns the length of a list that was too short for a query.
    pub(crate) fn length_of_ends(&self, query: &EdgesOf) -> usize {
        self.ends.get(&query.into()).map_or(0, IndexPrefix::limit)
    }

    pub(crate) fn length_of_members(&self, query: &MembersOf) -> usize {
        self.members.get(&query.into()).map_or(0, IndexPrefix::limit)
    }

    pub(crate) fn length_of_due(&self, query: &DueQuery) -> usize {
        self.due.get(&query.partition).map_or(0, IndexPrefix::limit)
    }

    /// Returns the next edges of a member; none if the loaded list is too short.
    pub(crate) fn edges_of(&self, query: &EdgesOf) -> Option<Vec<EdgeId>> {
        let EdgesOf { flow, member, side, after, limit } = *query;
        let (all, first) = (EdgeRange::all(flow, member, side), after.unwrap_or(EdgeId::from_uuid(uuid::Uuid::nil())));
        let added = self.added.range((all, first)..).take_while(|(of, _)| *of == all).map(|(_, edge)| *edge);
        let left = |edge: &EdgeId| self.edges.find(&(flow, *edge)) == Some(None) || self.added.contains(&(all, *edge));
        self.ends.get(&query.into())?.first(limit, left, added.filter(|edge| Some(*edge) != after))
    }

    /// Returns the next members of a flow without the `forgotten` ones; none if the loaded list is too short.
    pub(crate) fn members_of(
        &self,
        query: &MembersOf,
        forgotten: impl Fn(&ExecutionId) -> bool,
    ) -> Option<Vec<ExecutionId>> {
        let MembersOf { flow, after, limit } = *query;
        let first = after.unwrap_or(ExecutionId::new(0, uuid::Uuid::nil()));
        let joined = self.joined.range((flow, first)..).take_while(|(of, _)| *of == flow).map(|(_, member)| *member);
        let left = |member: &ExecutionId| forgotten(member) || self.joined.contains(&(flow, *member));
        self.members.get(&query.into())?.first(limit, left, joined.filter(|member| Some(*member) != after))
    }

    /// Returns the flows of a partition that are due first; none if the loaded list is too short.
    pub(crate) fn due(&self, query: &DueQuery) -> Option<Vec<(TimestampMs, FlowId)>> {
        let here = self.flows.touched().filter_map(|(_, flow)| flow).filter(|flow| flow.partition == query.partition);
        let entered = here.filter_map(|flow| Some((flow.next_due()?, flow.id)));
        self.due.get(&query.partition)?.first(query.limit, |(_, id)| self.flows.is_touched(id), entered)
    }

    /// Adds a new execution to the members of its flow.
    pub(crate) fn add_member(&mut self, flow: FlowId, member: ExecutionId) {
        self.joined.insert((flow, member));
    }

    /// Applies the change of a flow. Needs the edges into deleted members to be loaded.
    pub(crate) fn take(&mut self, change: FlowChange) {
        let id = change.after.id;
        for edge in change.edges {
            if self.edges.find(&(id, edge.id)) == Some(None) {
                self.added.insert((EdgeRange::all(id, edge.upstream_execution_id, Side::Outgoing), edge.id));
                self.added.insert((EdgeRange::all(id, edge.downstream_execution_id, Side::Incoming), edge.id));
            }
            self.edges.write((id, edge.id), edge);
        }
        for group in change.groups {
            self.groups.write(group.downstream_execution_id, group);
        }
        if let Some(entry) = change.key {
            self.keys.write((id, entry.key.clone()), entry);
        }
        change.forgotten.iter().for_each(|member| self.forget(&id, member));
        if change.gone {
            self.events.retain(|(flow, _)| *flow != id);
            self.keys.forget(|(flow, _)| *flow == id);
            self.gone.push(id);
            self.flows.remove(id);
        } else {
            self.events.extend(change.events.into_iter().map(|event| (id, event)));
            self.flows.write(id, change.after);
        }
    }

    /// Returns the records that stay valid once everything is stored, while no other session writes to these partitions. Nothing
    /// may have been deleted.
    pub(super) fn settled(mut self, partitions: &BTreeSet<u16>) -> Self {
        let stays = |member: &ExecutionId| partitions.contains(&member.partition());
        self.ends.retain(|ends, list| ends.after.is_none() && list.is_whole() && stays(&ends.member));
        // A new member cannot have edges that are not loaded.
        for (flow, member) in self.joined.into_iter().filter(|(_, member)| stays(member)) {
            for side in [Side::Outgoing, Side::Incoming] {
                self.ends.entry(EdgeRange::all(flow, member, side)).or_insert_with(IndexPrefix::empty);
            }
        }
        for (ends, edge) in self.added {
            self.ends.entry(ends).and_modify(|list| list.settle(|_| false, [edge]));
        }
        self.flows.settle();
        self.edges.settle();
        self.groups.settle();
        self.flows.retain(|_, flow| partitions.contains(&flow.partition));
        self.edges.retain(|_, edge| stays(&edge.upstream_execution_id));
        self.groups.retain(|member, _| stays(member));
        Self { flows: self.flows, edges: self.edges, groups: self.groups, ends: self.ends, ..Self::default() }
    }

    /// Returns the number of known records and lists.
    pub(super) fn len(&self) -> usize {
        self.flows.len() + self.edges.len() + self.groups.len() + self.ends.len()
    }

    /// Deletes the edges and the group of a deleted member. Its record and its bytes are deleted elsewhere.
    fn forget(&mut self, flow: &FlowId, member: &ExecutionId) {
        for edge in self.edges_of(&all_into(*flow, *member)).unwrap_or_default() {
            let upstream = self.edges.find(&(*flow, edge)).flatten().map(|edge| edge.upstream_execution_id);
            self.added.remove(&(EdgeRange::all(*flow, *member, Side::Incoming), edge));
            upstream.map(|upstream| self.added.remove(&(EdgeRange::all(*flow, upstream, Side::Outgoing), edge)));
            self.edges.remove((*flow, edge));
        }
        self.joined.remove(&(*flow, *member));
        self.groups.remove(*member);
    }
}
