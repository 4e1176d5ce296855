//! Notifying dependents: the outcome of an upstream settles its edges, a join is decided as soon as its counts allow,
//! and the member of the join is released, or is skipped and notifies its own dependents.

use crate::event::{Event, EventKind};
use crate::execution::{AttemptSlot, Blocker, DelayReason, Execution, FinishedBy, Outcome, Phase};
use crate::flow::step::ahead::edges_to_notify;
use crate::flow::step::{Step, Work};
use crate::flow::{
    Edge, EdgeState, Group, GroupState, Membership, PassMode, PendingPropagation, Propagation, Siblings,
};
use crate::rule::view::{Stop, require_all};
use crate::types::{EdgeId, ExecutionId, FlowId};

impl Step<'_> {
    /// Continues to notify the dependents of a member, after the last notified edge.
    pub(in crate::flow) fn notify_dependents(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        let Some((member, membership, propagation)) = self.pending(id)? else { return Ok(()) };
        let (flow, after) = (membership.flow_id, propagation.after);
        let page = self.edges_of(&edges_to_notify(membership.flow_id, *id, propagation.after))?;
        let notified = &page[..page.len().min(self.budget)];
        let edges = self.look_ahead(&flow, notified)?;
        self.budget -= notified.len();
        for edge in edges {
            match (propagation.what, &member.phase) {
                (Propagation::End, Phase::Finished { outcome, .. }) => {
                    self.settle(edge, (*outcome).into(), membership.result_bytes)?;
                }
                (Propagation::End, _) => {}
                (Propagation::Replay { reopen }, _) => self.unsettle(edge, reopen)?,
            }
        }
        if notified.len() < page.len() {
            let after = notified.last().copied().or(after);
            return self.amend(id, |membership| {
                membership.pending_propagation = Some(PendingPropagation { after, ..propagation })
            });
        }
        self.amend(id, |membership| membership.pending_propagation = None)?;
        if matches!(propagation.what, Propagation::Replay { .. }) { self.admit(id) } else { Ok(()) }
    }

    /// Settles an edge, and judges its join unless the join has fired: later outcomes are only counted.
    fn settle(&mut self, edge: Edge, to: EdgeState, result_bytes: Option<u64>) -> Result<(), Stop> {
        let (child, round) = (edge.downstream_execution_id, edge.round);
        if edge.state == to {
            return Ok(());
        }
        self.count(edge, to, result_bytes)?;
        let Some(mut group) = self.group(&child)? else { return Ok(()) };
        if group.state != GroupState::Pending || group.round != round {
            return Ok(());
        }
        group.evaluate(self.now);
        self.put_group(group)?;
        if group.state == GroupState::Pending { Ok(()) } else { self.fired(&group) }
    }

    /// Sets the state of an edge. An edge of the current round is counted, and passes the result to a pending join.
    pub(in crate::flow) fn count(
        &mut self,
        mut edge: Edge,
        to: EdgeState,
        result_bytes: Option<u64>,
    ) -> Result<(), Stop> {
        let Some(mut group) = self.group(&edge.downstream_execution_id)? else { return Ok(()) };
        self.resolved += 1;
        let from = std::mem::replace(&mut edge.state, to);
        if edge.round == group.round {
            group.recount(from, to);
            self.put_group(group)?;
            if group.state == GroupState::Pending && to == EdgeState::Satisfied {
                self.pass_on(&mut edge, result_bytes)?;
            }
        }
        self.put_edge(edge)
    }

    /// Moves a blocked execution to the phase that its join allows. An execution that is staged, blocked by admission,
    /// or still notifying dependents of its replay is left alone.
    pub(in crate::flow) fn admit(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        let group = self.group(id)?;
        let Some(execution) = self.execution(id)?.cloned() else { return Ok(()) };
        let Phase::Blocked { on, until } = execution.phase else { return Ok(()) };
        let propagation = execution.membership.as_ref().is_some_and(|m| m.pending_propagation.is_some());
        if on == Blocker::Staging || on.is_admission() || (on == Blocker::Reopening && propagation) {
            return Ok(());
        }
        let waits_again = matches!(execution.attempt, AttemptSlot::Open(_));
        let change = match group.map_or(GroupState::Satisfied, |group| group.state) {
            GroupState::Pending if on == Blocker::Dependencies => return Ok(()),
            GroupState::Pending => execution.enter(Phase::Blocked { on: Blocker::Dependencies, until }, self.now),
            GroupState::Impossible if !waits_again => {
                self.cascaded += 1;
                execution.called_off(Outcome::Skipped, FinishedBy::Dependencies, self.now)
            }
            GroupState::Satisfied | GroupState::Impossible => {
                let phase = match until.filter(|until| *until > self.now) {
                    Some(until) => Phase::Delayed { until, why: DelayReason::Submitted },
                    None => execution.ready_phase(),
                };
                let mut change = execution.enter(phase, self.now);
                let reason = on.reason();
                change.events.push(Event::new(id, self.now, EventKind::Unblocked { reason }));
                change
            }
        };
        self.write(change)
    }

    /// Applies the decision of a join to its member, and schedules the check of upstreams that the join cancels.
    pub(in crate::flow) fn fired(&mut self, group: &Group) -> Result<(), Stop> {
        let id = group.downstream_execution_id;
        if self.execution(&id)?.is_none_or(Execution::is_finished) {
            return Ok(());
        }
        if group.join.cancels_remaining() {
            let siblings = Some(Siblings { since: self.now, after: None, within: None });
            self.amend(&id, |membership| membership.siblings = siblings)?;
            self.later(Work::Siblings(id));
        }
        self.admit(&id)
    }

    /// Passes a result on along an edge, as a named input or as the payload.
    fn pass_on(&mut self, edge: &mut Edge, result_bytes: Option<u64>) -> Result<(), Stop> {
        let (Some(passes), Some(bytes)) = (&edge.passes, result_bytes) else { return Ok(()) };
        let id = edge.downstream_execution_id;
        match passes {
            PassMode::Input(_) => self.amend(&id, |membership| {
                membership.inputs += 1;
                membership.input_bytes += bytes;
            })?,
            PassMode::Payload => {
                self.amend(&id, |membership| membership.injected_bytes = Some(bytes))?;
                self.inject(&id, edge.upstream_execution_id);
            }
        }
        edge.passed_bytes = Some(bytes);
        Ok(())
    }

    /// Returns a member with its pending propagation, if it has one.
    fn pending(&self, id: &ExecutionId) -> Result<Option<(Execution, Membership, PendingPropagation)>, Stop> {
        let Some(member) = self.execution(id)?.cloned() else { return Ok(None) };
        let Some(membership) = member.membership.as_deref().cloned() else { return Ok(None) };
        Ok(membership.pending_propagation.map(|propagation| (member, membership, propagation)))
    }

    /// Returns edges. All records that settling them needs are reported as one miss if they are missing.
    fn look_ahead(&self, flow: &FlowId, ids: &[EdgeId]) -> Result<Vec<Edge>, Stop> {
        let edges = self.edges(flow, ids)?;
        let children = || edges.iter().map(|edge| &edge.downstream_execution_id);
        let executions = children().map(|id| self.view.execution(id).map(|_| ()));
        require_all(executions.chain(children().map(|id| self.view.group(id).map(|_| ()))))?;
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::execution::contracts::{CancelArgs, Start};
    use crate::flow::fixture::{FlowFixture, any_of, graph, named, quorum};
    use crate::flow::{CancelPolicy, OnSatisfied};
    use crate::limits;
    use crate::operation::PumpArgs;
    use crate::payload::Payload;
    use crate::policy::Policy;
    use crate::state::PublicState;
    use crate::suspension::contracts::{SuspendArgs, Timeout};
    use crate::token::{KeyRing, Secret};
    use crate::types::{InputName, Kid, WaitpointKey};

    #[test]
    fn a_diamond_ends_itself() {
        let mut flow = FlowFixture::of("a>b a>c b>d c>d");
        assert_eq!(flow.states("a b c d"), ["waiting", "waiting_children", "waiting_children", "waiting_children"]);
        flow.start();
        flow.complete("a");
        assert_eq!(flow.states("b c d"), ["waiting", "waiting", "waiting_children"]);
        flow.start();
        flow.complete("b");
        assert_eq!(flow.state("d"), "waiting_children");
        flow.complete("c");
        assert_eq!((flow.state("d"), flow.flow_state()), ("waiting", "running"));
        flow.start();
        flow.complete("d");
        assert_eq!(flow.flow_state(), "completed");
    }

    #[test]
    fn a_failure_skips_exactly_what_can_no_longer_run() {
        let mut flow = FlowFixture::with(graph("a>b b>c a>x y>x y>z", &[("x", any_of(OnSatisfied::LetRun))]));
        flow.start();
        flow.fail("a");
        assert_eq!(
            flow.states("a b c x y z"),
            ["failed", "skipped", "skipped", "waiting_children", "active", "waiting_children"]
        );
        flow.complete("y");
        assert_eq!(flow.states("x z"), ["waiting", "waiting"]);
        flow.run();
        assert_eq!(flow.flow_state(), "failed");
    }

    #[test]
    fn a_flow_whose_joins_bear_a_failure_completes() {
        let mut flow = FlowFixture::with(graph("a>c b>c", &[("c", any_of(OnSatisfied::LetRun))]));
        flow.start();
        flow.fail("a");
        flow.complete("b");
        flow.run();
        assert_eq!((flow.state("c"), flow.flow_state()), ("completed", "completed"));
    }

    #[test]
    fn a_long_chain_of_skips_is_continued_in_bounded_steps() {
        let edges: Vec<_> = (0..200).map(|n| format!("n{n}>n{}", n + 1)).collect();
        let mut flow = FlowFixture::of(&edges.join(" "));
        flow.start();
        flow.fail("n0");
        let skipped = flow.flow().counts.of(PublicState::Skipped) as usize;
        assert_eq!(skipped, limits::FLOW_STEP);
        assert_eq!(flow.drain(), 200 / limits::FLOW_STEP, "the rest, a step at a time");
        assert_eq!((flow.state("n200"), flow.flow_state()), ("skipped", "failed"));
    }

    #[test]
    fn dependents_over_the_step_bound_stay_pending() {
        let edges: Vec<_> = (0..300).map(|n| format!("a>n{n}")).collect();
        let mut flow = FlowFixture::of(&edges.join(" "));
        flow.drain();
        flow.start();
        flow.complete("a");
        let released = |flow: &FlowFixture| flow.flow().counts.of(PublicState::Waiting) as usize;
        assert_eq!(released(&flow), limits::FLOW_STEP);
        assert!(flow.execution("a").membership.as_ref().unwrap().pending_propagation.is_some());
        assert_eq!(flow.drain(), 300 / limits::FLOW_STEP);
        assert_eq!(released(&flow), 300);
    }

    #[test]
    fn an_end_not_reached_by_a_step_stays_due() {
        let pending = |from: &str| (0..2 * limits::FLOW_STEP).map(|n| format!("{from}>{from}{n}")).collect::<Vec<_>>();
        let mut flow = FlowFixture::of(&[pending("a"), pending("b")].concat().join(" "));
        flow.drain();
        flow.start();
        flow.complete("a");
        flow.complete("b");
        let pumped = flow.ask(PumpArgs { partition: 0 }).unwrap();
        assert!(pumped.next_due.is_some_and(|at| at <= flow.now), "one was paid in full, and the other not at all");
        assert_eq!(flow.drain(), 1);
        assert_eq!(flow.flow().counts.of(PublicState::Waiting) as usize, 4 * limits::FLOW_STEP);
    }

    #[test]
    fn a_start_in_the_future_is_waited_for_after_the_join() {
        let mut args = graph("a>b", &[]);
        args.nodes[1].start = Start::After(5_000);
        let mut flow = FlowFixture::with(args);
        flow.start();
        flow.complete("a");
        assert_eq!(flow.state("b"), "delayed");
    }

    #[test]
    fn results_are_passed_on_by_name_and_as_payload_whatever_their_bytes() {
        let bytes = Payload::bytes(vec![0, 255, 10, 13, 0]);
        let mut args = graph("a>c b>c", &[]);
        args.edges[0].passes = Some(PassMode::Input(InputName::parse("left").unwrap()));
        args.edges[1].passes = Some(PassMode::Payload);
        let mut flow = FlowFixture::with(args);
        flow.start();
        flow.complete_with("a", Some(bytes.clone()));
        flow.complete_with("b", Some(bytes.clone()));
        let id = flow.member("c");
        assert_eq!(flow.model.payload(&id), Some(&bytes));
        let task = flow.claim(1).remove(0);
        assert_eq!(task.flow.map(|of| (of.node, of.inputs)), Some((named("c"), 1)));
    }

    #[test]
    fn an_upstream_that_succeeds_too_late_only_counts() {
        let mut args = graph("a>c b>c", &[("c", any_of(OnSatisfied::LetRun))]);
        args.edges[1].passes = Some(PassMode::Payload);
        let mut flow = FlowFixture::with(args);
        flow.start();
        flow.complete_with("a", Some(Payload::json("\"first\"")));
        flow.complete_with("b", Some(Payload::json("\"second\"")));
        let id = flow.member("c");
        assert_ne!(flow.model.payload(&id), Some(&Payload::json("\"second\"")));
    }

    #[test]
    fn every_way_to_end_notifies_the_dependents() {
        let ends: &[fn(&mut FlowFixture)] = &[
            |flow| flow.complete("a"),
            |flow| flow.fail("a"),
            |flow| {
                let execution_id = flow.member("a");
                flow.ask(CancelArgs { execution_id, reason: None, requested_by: None }).unwrap();
            },
            FlowFixture::wait_a_minute,
        ];
        for (nth, end) in ends.iter().enumerate() {
            let mut args = graph("a>b b>c", &[]);
            if nth == 3 {
                args.nodes[0].policy.timeout_policy.execution_deadline_ms = Some(1_000);
            }
            let mut flow = FlowFixture::with(args);
            flow.start();
            end(&mut flow);
            let expected = if nth == 0 { "waiting" } else { "skipped" };
            assert_eq!(flow.state("b"), expected, "end {nth}");
        }
    }

    #[test]
    fn every_end_caused_by_time_notifies_the_dependents() {
        let limits: &[fn(&mut Policy)] = &[
            |policy| policy.timeout_policy.execution_deadline_ms = Some(1_000),
            |policy| policy.timeout_policy.attempt_timeout_ms = Some(1_000),
            |policy| policy.max_reclaim_count = 0,
        ];
        for (nth, limit) in limits.iter().enumerate() {
            let mut args = graph("a>b b>c", &[]);
            args.nodes[0].policy.retry_policy.max_retries = 0;
            limit(&mut args.nodes[0].policy);
            let mut flow = FlowFixture::with(args);
            flow.start();
            flow.wait_a_minute();
            assert_eq!((flow.state("b"), flow.flow_state()), ("skipped", "failed"), "limit {nth}");
        }
    }

    #[test]
    fn a_suspension_timeout_notifies_the_dependents() {
        let mut flow = FlowFixture::of("a>b");
        flow.model.set_ring(0, KeyRing::of(Kid::first(), Secret::drawn([7; 32])));
        flow.start();
        let suspend = SuspendArgs::new(flow.member("a"), flow.fence("a"), WaitpointKey::parse("approval").unwrap());
        flow.ask(SuspendArgs { timeout: Some(Timeout::After(1_000)), ..suspend }).unwrap();
        assert_eq!(flow.states("a b"), ["suspended", "waiting_children"]);
        flow.wait_a_minute();
        assert_eq!(flow.states("a b"), ["failed", "skipped"]);
    }

    #[test]
    fn flow_records_are_read_back_as_written() {
        fn again<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(record: &T) {
            let text = serde_json::to_string(record).unwrap();
            assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), record, "{text}");
        }
        let edges: Vec<_> = (0..300).map(|n| format!("a>n{n} b>n{n}")).collect();
        let mut flow = FlowFixture::with(graph(&edges.join(" "), &[("n0", any_of(OnSatisfied::CancelRemaining))]));
        flow.start();
        flow.complete("a");
        flow.cancel_flow(CancelPolicy::CancelPending);
        let snapshot = flow.model.snapshot(0);
        assert!(snapshot.flows.values().any(|flow| flow.member_sweep.is_some()));
        let mut memberships = snapshot.executions.values().filter_map(|execution| execution.membership.as_ref());
        assert!(memberships.any(|membership| membership.pending_propagation.is_some()));
        snapshot.flows.values().for_each(again);
        snapshot.executions.values().for_each(|execution| assert_eq!(&execution.written_and_read(), execution));
        snapshot.edges.values().for_each(again);
        snapshot.groups.values().for_each(again);
        snapshot.flow_events.values().for_each(again);
    }

    #[test]
    fn a_quorum_fires_once_and_is_impossible_as_soon_as_it_is() {
        let join = quorum(2, OnSatisfied::LetRun);
        let mut flow = FlowFixture::with(graph("a>d b>d c>d", &[("d", join)]));
        flow.start();
        flow.complete("a");
        flow.fail("b");
        assert_eq!(flow.state("d"), "waiting_children");
        flow.fail("c");
        assert_eq!(flow.state("d"), "skipped");
        let refused = flow.replay("d", false).unwrap_err();
        assert_eq!(refused, Code::DepsNotSatisfied);
    }
}
