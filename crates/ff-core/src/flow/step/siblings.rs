//! The other upstreams of a join that fired. Those that no other dependent needs are cancelled, in bounded steps. The
//! progress is stored, so that a crash loses nothing.

use crate::execution::{Execution, FinishedBy};
use crate::flow::step::Step;
use crate::flow::{GroupState, Siblings};
use crate::rule::view::{EdgesOf, Side, Stop, require_all};
use crate::types::{EdgeId, ExecutionId, FlowId};

/// Whether another dependent still needs an upstream.
enum Need {
    Needed,
    Unneeded,
    /// No dependent up to this edge needs it; the step's budget ended here.
    Unknown {
        within: Option<EdgeId>,
    },
}

impl Step<'_> {
    /// Continues to check the other upstreams of a join that fired.
    pub(in crate::flow) fn check_siblings(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        let membership = self.execution(id)?.and_then(|child| child.membership.as_deref().cloned());
        let Some((flow, mut left)) = membership.and_then(|m| Some((m.flow_id, m.siblings?))) else { return Ok(()) };
        let Some(group) = self.group(id)? else { return Ok(()) };
        let (after, limit) = (left.after, self.budget + 1);
        let page = self.edges_of(&EdgesOf { flow, member: *id, side: Side::Incoming, after, limit })?;
        let looked = page.len().min(self.budget);
        let edges = self.edges(&flow, &page[..looked])?;
        require_all(edges.iter().map(|edge| self.view.execution(&edge.upstream_execution_id)))?;
        for edge in edges {
            if self.budget == 0 {
                return self.leave(id, left);
            }
            self.budget -= 1;
            let upstream = self.execution(&edge.upstream_execution_id)?.cloned();
            if let Some(upstream) = upstream.filter(|upstream| edge.round == group.round && !upstream.is_finished()) {
                match self.need(&upstream, id, &flow, left.within)? {
                    Need::Needed => {}
                    Need::Unneeded => {
                        self.cascaded += 1;
                        self.write(upstream.cancelled(FinishedBy::Join, self.now))?;
                    }
                    Need::Unknown { within } => return self.leave(id, Siblings { within, ..left }),
                }
            }
            left = Siblings { after: Some(edge.id), within: None, ..left };
        }
        if looked < page.len() { self.leave(id, left) } else { self.amend(id, |membership| membership.siblings = None) }
    }

    fn leave(&mut self, id: &ExecutionId, left: Siblings) -> Result<(), Stop> {
        self.amend(id, |membership| membership.siblings = Some(left))
    }

    /// Returns whether a join other than that of `fired` still waits for an upstream.
    fn need(
        &mut self,
        upstream: &Execution,
        fired: &ExecutionId,
        flow: &FlowId,
        within: Option<EdgeId>,
    ) -> Result<Need, Stop> {
        if upstream.membership.as_ref().is_none_or(|membership| membership.dependents <= 1) {
            return Ok(Need::Unneeded);
        }
        let (member, limit) = (upstream.id, self.budget + 1);
        let page = self.edges_of(&EdgesOf { flow: *flow, member, side: Side::Outgoing, after: within, limit })?;
        let looked = page.len().min(self.budget);
        let edges = self.edges(flow, &page[..looked])?;
        let others = || edges.iter().map(|edge| &edge.downstream_execution_id);
        let executions = others().map(|id| self.view.execution(id).map(|_| ()));
        require_all(executions.chain(others().map(|id| self.view.group(id).map(|_| ()))))?;
        for edge in &edges {
            self.budget -= 1;
            let other = &edge.downstream_execution_id;
            let waits = self
                .group(other)?
                .is_some_and(|group| group.state == GroupState::Pending && group.round == edge.round && other != fired);
            if waits && self.execution(other)?.is_some_and(|other| !other.is_finished()) {
                return Ok(Need::Needed);
            }
        }
        let within = edges.last().map(|edge| edge.id).or(within);
        Ok(if looked < page.len() { Need::Unknown { within } } else { Need::Unneeded })
    }
}

#[cfg(test)]
mod tests {
    use crate::execution::{FinishedBy, Phase};
    use crate::flow::OnSatisfied::{CancelRemaining, LetRun};
    use crate::flow::fixture::{FlowFixture, any_of, graph, quorum};
    use crate::limits;
    use crate::state::PublicState;

    #[test]
    fn a_quorum_cancels_whom_it_no_longer_needs() {
        let mut flow = FlowFixture::with(graph("a>d b>d c>d", &[("d", quorum(1, CancelRemaining))]));
        flow.start();
        flow.complete("b");
        assert_eq!(flow.states("a b c d"), ["cancelled", "completed", "cancelled", "waiting"]);
        assert!(matches!(flow.execution("a").phase, Phase::Finished { by: FinishedBy::Join, .. }));
        flow.run();
        assert_eq!(flow.flow_state(), "completed", "a sibling that is cancelled is no failure");
    }

    #[test]
    fn a_sibling_another_child_still_needs_is_left_alone() {
        let joins = [("d", any_of(CancelRemaining)), ("e", any_of(CancelRemaining))];
        let mut flow = FlowFixture::with(graph("a>d b>d b>e c>e", &joins));
        flow.start();
        flow.complete("a");
        assert_eq!(flow.states("b c d e"), ["active", "active", "waiting", "waiting_children"]);
        flow.complete("c");
        assert_eq!(flow.states("b e"), ["cancelled", "waiting"], "no dependent needs it any more");
    }

    #[test]
    fn a_sibling_whose_other_dependent_has_ended_is_cancelled() {
        let mut flow = FlowFixture::with(graph("a>d b>d b>e", &[("d", any_of(CancelRemaining))]));
        flow.start();
        let execution_id = flow.member("e");
        flow.ask(crate::execution::contracts::CancelArgs { execution_id, reason: None, requested_by: None }).unwrap();
        flow.complete("a");
        assert_eq!(flow.states("b d"), ["cancelled", "waiting"]);
    }

    #[test]
    fn upstreams_run_on_when_they_are_let() {
        let mut flow = FlowFixture::with(graph("a>c b>c", &[("c", any_of(LetRun))]));
        flow.start();
        flow.complete("a");
        assert_eq!(flow.states("b c"), ["active", "waiting"]);
    }

    #[test]
    fn an_impossible_join_cancels_its_remaining_upstreams() {
        let mut flow = FlowFixture::with(graph("a>d b>d c>d", &[("d", quorum(3, CancelRemaining))]));
        flow.start();
        flow.fail("a");
        assert_eq!(flow.states("b c d"), ["cancelled", "cancelled", "skipped"]);
    }

    #[test]
    fn two_thousand_siblings_are_cancelled_step_by_step_and_exactly_once() {
        let edges: Vec<_> = (0..2_000).map(|n| format!("n{n}>z")).collect();
        let mut flow = FlowFixture::empty();
        flow.watched = false;
        flow.submit(graph(&edges.join(" "), &[("z", quorum(1, CancelRemaining))])).unwrap();
        flow.drain();
        flow.start();
        flow.complete("n7");
        let cancelled = |flow: &FlowFixture| flow.flow().counts.of(PublicState::Cancelled) as usize;
        assert!(cancelled(&flow) <= limits::FLOW_STEP && cancelled(&flow) > 0);
        assert_eq!(flow.state("z"), "waiting");
        assert!(flow.drain() >= 2_000 / limits::FLOW_STEP);
        flow.watched = true;
        flow.run();
        assert_eq!((cancelled(&flow), flow.flow_state()), (1_999, "completed"));
    }
}
