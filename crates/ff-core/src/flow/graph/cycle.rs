//! Detection of cycles that a new edge would close.

use std::collections::{BTreeSet, VecDeque};

use crate::engine_error::Code;
use crate::flow::graph::ResolvedEdge;
use crate::flow::step::Step;
use crate::limits;
use crate::rule::view::{EdgesOf, Miss, Side, Stop, require_all};
use crate::types::{ExecutionId, FlowId};

impl Step<'_> {
    /// Refuses an edge that would close a cycle. The search runs from both ends, so that an edge before or after a
    /// large graph is soon found to be harmless. The edge is also refused if both searches exceed
    /// [`limits::CYCLE_SEARCH`] edges.
    pub(in crate::flow) fn check_no_cycle(
        &self,
        flow: &FlowId,
        new: &ResolvedEdge,
        added: &[(ExecutionId, ExecutionId)],
        field: &str,
    ) -> Result<(), Stop> {
        let refused = |why: String| Err(Code::CycleDetected.refusal().at(field).because(why).into());
        let mut down = Search::new(new.downstream, new.upstream, Side::Outgoing);
        let mut up = Search::new(new.upstream, new.downstream, Side::Incoming);
        loop {
            if down.is_spent() && up.is_spent() {
                return refused(format!("cannot be distinguished from a cycle within {} edges", limits::CYCLE_SEARCH));
            }
            let upwards = !up.is_spent() && (down.is_spent() || up.looked < down.looked);
            let search = if upwards { &mut up } else { &mut down };
            let Some(from) = search.ahead.pop_front() else { return Ok(()) };
            let next = self.neighbours(flow, &from, search.side, added);
            let next = next.map_err(|stop| self.with_queued_edges(stop, flow, search))?;
            search.looked += next.len();
            if next.contains(&search.target) {
                return refused("must not let the flow wait for itself".into());
            }
            let unseen: Vec<_> = next.into_iter().filter(|id| search.visited.insert(*id)).collect();
            search.ahead.extend(unseen);
        }
    }

    /// Extends a miss with the edges of all members that are still queued in the search, so that they are loaded together.
    fn with_queued_edges(&self, stop: Stop, flow: &FlowId, search: &Search) -> Stop {
        let Stop::Miss(miss) = stop else { return stop };
        let edges = search.ahead.iter().filter_map(|of| self.view.edges(&neighbourhood(flow, of, search.side)).err());
        Stop::Miss(Miss::All(std::iter::once(miss).chain(edges).collect()))
    }

    /// Returns the members one edge away, including those at the edges of `added`.
    fn neighbours(
        &self,
        flow: &FlowId,
        of: &ExecutionId,
        side: Side,
        added: &[(ExecutionId, ExecutionId)],
    ) -> Result<Vec<ExecutionId>, Stop> {
        let ids = self.view.edges(&neighbourhood(flow, of, side))?;
        require_all(ids.iter().map(|id| self.view.edge(flow, id)))?;
        let mut next = Vec::new();
        for id in &ids {
            let ends = self.edge(flow, id)?.map(|edge| (edge.upstream_execution_id, edge.downstream_execution_id));
            next.extend(ends);
        }
        let ends = next.into_iter().chain(added.iter().copied());
        Ok(ends
            .filter_map(|(upstream, downstream)| match side {
                Side::Outgoing => (upstream == *of).then_some(downstream),
                Side::Incoming => (downstream == *of).then_some(upstream),
            })
            .collect())
    }
}

fn neighbourhood(flow: &FlowId, of: &ExecutionId, side: Side) -> EdgesOf {
    EdgesOf { flow: *flow, member: *of, side, after: None, limit: limits::CYCLE_SEARCH + 1 }
}

/// A search in one direction.
struct Search {
    target: ExecutionId,
    side: Side,
    visited: BTreeSet<ExecutionId>,
    ahead: VecDeque<ExecutionId>,
    /// Number of edges examined.
    looked: usize,
}

impl Search {
    fn new(from: ExecutionId, target: ExecutionId, side: Side) -> Self {
        Self { target, side, visited: BTreeSet::from([from]), ahead: VecDeque::from([from]), looked: 0 }
    }

    fn is_spent(&self) -> bool {
        self.looked > limits::CYCLE_SEARCH
    }
}
