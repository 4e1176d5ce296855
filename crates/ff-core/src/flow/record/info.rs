//! A flow as callers see it.

use crate::execution::{Execution, Phase};
use crate::flow::contracts::{EdgeInfo, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, GroupInfo, MemberInfo};
use crate::flow::{Edge, Flow, FlowEvent, Group};

impl Flow {
    pub fn info(&self) -> FlowInfo {
        FlowInfo {
            flow_id: self.id,
            namespace: self.namespace.clone(),
            kind: self.kind.clone(),
            state: self.state(),
            tags: self.tags.clone(),
            graph_revision: self.graph_revision,
            nodes: self.nodes,
            edges: self.edges,
            counts: self.counts.clone(),
            held_open: self.held_open,
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            cancel: self.cancel.clone(),
            trace: self.trace.clone(),
        }
    }
}

impl FlowInfo {
    /// Returns the end of the flow, or nothing while it has not ended.
    pub fn end(self) -> Option<FlowEnd> {
        let at = self.ended_at?;
        Some(FlowEnd { flow_id: self.flow_id, state: self.state, at, counts: self.counts })
    }
}

impl FlowEventsPage {
    /// Returns the next page of the retained events of a flow.
    pub fn of<'e>(flow: &Flow, retained: impl Iterator<Item = &'e FlowEvent>, args: &FlowEventsArgs) -> Self {
        let mut retained = retained.peekable();
        let missed = retained.peek().is_some_and(|first| args.from < first.seq);
        let events: Vec<_> = retained.skip_while(|event| event.seq < args.from).take(args.limit).cloned().collect();
        let next = events.last().map_or(args.from, |last| last.seq + 1);
        Self { missed, next, ended: flow.ended_at.is_some() && next >= flow.events, events }
    }
}

impl MemberInfo {
    /// Returns a member with the group of edges into it, or nothing for an execution without a flow.
    pub fn of(execution: &Execution, group: Option<&Group>) -> Option<Self> {
        let membership = execution.membership.as_ref()?;
        Some(Self {
            node: membership.node.clone(),
            position: membership.position,
            execution_id: execution.id,
            kind: execution.kind.clone(),
            lane_id: execution.lane.clone(),
            public_state: execution.public_state(),
            started_at: execution.started_at,
            finished_at: match execution.phase {
                Phase::Finished { at, .. } => Some(at),
                _ => None,
            },
            attempts_made: execution.attempts_made,
            replays: execution.replays,
            failure: execution.failure.clone(),
            group: group.map(GroupInfo::from),
        })
    }
}

impl From<&Group> for GroupInfo {
    fn from(group: &Group) -> Self {
        let Group { join, state, n, succeeded, failed, skipped, .. } = *group;
        Self { join, state, n, succeeded, failed, skipped }
    }
}

impl From<&Edge> for EdgeInfo {
    fn from(edge: &Edge) -> Self {
        Self {
            edge_id: edge.id,
            upstream_execution_id: edge.upstream_execution_id,
            downstream_execution_id: edge.downstream_execution_id,
            passes: edge.passes.clone(),
            state: edge.state,
        }
    }
}
