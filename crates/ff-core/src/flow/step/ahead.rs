//! Looking ahead: the records that a step is going to read are reported as one miss, so that an executor loads them
//! together.

use crate::flow::step::{Step, Work};
use crate::limits;
use crate::rule::change::Change;
use crate::rule::view::{EdgesOf, Miss, Side, Stop, require_all};
use crate::types::{EdgeId, ExecutionId, FlowId};

impl Step<'_> {
    /// Reports, as one miss, missing records that are certain to be read: the flows of changed members, and the edges
    /// out of ended members.
    pub(super) fn look_ahead_of(&self, changes: &[Change]) -> Result<(), Stop> {
        let members = || changes.iter().filter_map(|change| Some((&change.after, change.after.membership.as_ref()?)));
        let flows = members().map(|(_, membership)| self.view.flow(&membership.flow_id).map(|_| ()));
        let ended = members().filter(|(after, membership)| after.is_finished() && membership.dependents > 0);
        let edges = ended.map(|(after, membership)| {
            self.view.edges(&edges_to_notify(membership.flow_id, after.id, None)).map(|_| ())
        });
        Ok(require_all(flows.chain(edges))?)
    }

    /// Extends a miss with the later misses of the step: the records that pending notifications of dependents read.
    pub(super) fn with_later_misses(&self, stop: Stop) -> Stop {
        let Stop::Miss(miss) = stop else { return stop };
        let notifying = self.work.iter().filter_map(|work| match work {
            Work::Dependents(id) => Some(id),
            Work::Siblings(_) | Work::Sweep(_) => None,
        });
        let missing = notifying.take(self.budget).flat_map(|id| self.missing_to_notify(id));
        Stop::Miss(Miss::All(std::iter::once(miss).chain(missing).collect()))
    }

    /// Returns the misses of notifying a member's dependents: its edges, and the executions and groups at their other ends.
    fn missing_to_notify(&self, id: &ExecutionId) -> Vec<Miss> {
        let membership = self.execution(id).ok().flatten().and_then(|member| member.membership.as_ref());
        let Some((membership, propagation)) = membership.and_then(|m| Some((m, m.pending_propagation?))) else {
            return Vec::new();
        };
        let page = match self.view.edges(&edges_to_notify(membership.flow_id, *id, propagation.after)) {
            Ok(page) => page,
            Err(miss) => return vec![miss],
        };
        let of_edge = |edge: &EdgeId| match self.view.edge(&membership.flow_id, edge) {
            Ok(Some(edge)) => {
                let child = &edge.downstream_execution_id;
                [self.view.execution(child).err(), self.view.group(child).err()]
            }
            Ok(None) => [None, None],
            Err(miss) => [Some(miss), None],
        };
        page.iter().take(self.budget).flat_map(of_edge).flatten().collect()
    }
}

/// Returns the query for the edges of a member that come after `after` and are still to be notified. The limit is one
/// more than a whole step may take, regardless of the remaining budget of the step.
pub fn edges_to_notify(flow: FlowId, member: ExecutionId, after: Option<EdgeId>) -> EdgesOf {
    EdgesOf { flow, member, side: Side::Outgoing, after, limit: limits::FLOW_STEP + 1 }
}
