//! Cancelling a flow. After the acknowledgement, no member starts unless the policy spares it.

use serde::{Deserialize, Serialize};

use super::{CancelPolicy, Flow, FlowCancel, FlowEventKind, Step, SweepAction};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision, check_message};
use crate::partition::{PartitionConfig, flow_partition};
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::types::FlowId;

/// A request to cancel a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelFlowArgs {
    pub flow_id: FlowId,
    pub policy: CancelPolicy,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

/// The flow is cancelled: members that the policy does not spare start no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowCancelled {
    /// The policy in force: the first one, unless a later one was `cancel_all`.
    pub policy: CancelPolicy,
    /// True when it was already cancelled.
    pub already: bool,
    /// Members cancelled immediately.
    pub cancelled: u32,
    /// Members still to be processed.
    pub scheduled: u32,
}

impl Command for CancelFlowArgs {
    type Reply = FlowCancelled;
    const SETTLES_FLOWS: bool = true;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.flow_id, partitions).index
    }

    /// Cancels a flow. This step cancels as many members as its bound allows, and further steps cancel the rest;
    /// meanwhile a claim starts none of them. A repeated call keeps the first policy, unless it requests `cancel_all`
    /// while members are live.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<FlowCancelled>, Stop> {
        let now = at.now;
        let flow = view.flow(&self.flow_id)?.filter(|flow| flow.is_visible()).ok_or(Code::FlowNotFound)?;
        let harder = self.policy == CancelPolicy::CancelAll && flow.counts.live() > 0;
        if let Some(cancel) = &flow.cancel
            && (cancel.policy == CancelPolicy::CancelAll || !harder)
        {
            let scheduled = flow.unvisited();
            let policy = cancel.policy;
            return Ok(Decision::of(FlowCancelled { policy, already: true, cancelled: 0, scheduled }, None));
        }
        if flow.ended_at.is_some() && flow.cancel.is_none() {
            return Err(Code::FlowAlreadyTerminal.refusal().because(format!("the flow is {}", flow.state())).into());
        }
        let before = flow.counts.of(PublicState::Cancelled);
        let mut step = Step::new(view, now);
        step.flow_change(&self.flow_id)?.after.cancel = Some(FlowCancel {
            policy: self.policy,
            at: now,
            reason: self.reason.clone(),
            requested_by: self.requested_by.clone(),
        });
        step.record_event(&self.flow_id, FlowEventKind::Cancelled { policy: self.policy })?;
        // With `flow_only`, a running sweep that opens staged members must continue, so no other sweep replaces it.
        if self.policy != CancelPolicy::FlowOnly {
            step.begin_sweep(&self.flow_id, SweepAction::Cancel)?;
        }
        let settled = step.run()?;
        let flow = settled.flow(&self.flow_id).ok_or(Code::InvariantViolation)?;
        let cancelled = flow.counts.of(PublicState::Cancelled) - before;
        let (policy, scheduled) = (self.policy, flow.unvisited());
        Ok(Decision::settled(FlowCancelled { policy, already: false, cancelled, scheduled }, settled))
    }
}

impl Flow {
    /// Returns the number of members that the cancellation has not reached.
    fn unvisited(&self) -> u32 {
        let cancelling = self.member_sweep.filter(|member_sweep| member_sweep.action == SweepAction::Cancel);
        cancelling.map_or(0, |member_sweep| self.nodes - member_sweep.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::FailArgs;
    use crate::execution::{Failure, FinishedBy, Phase};
    use crate::flow::fixture::{FlowFixture, graph};
    use crate::limits;
    use crate::types::Kind;

    fn wide(width: usize) -> FlowFixture {
        let names: Vec<_> = (0..width).map(|n| format!("n{n}")).collect();
        FlowFixture::of(&names.join(" "))
    }

    #[test]
    fn after_the_acknowledgement_no_member_starts() {
        let mut flow = wide(500);
        flow.drain();
        let answer = flow.cancel_flow(CancelPolicy::CancelAll);
        let at_once = u32::try_from(limits::FLOW_STEP).unwrap();
        assert_eq!((answer.cancelled, answer.scheduled), (at_once, 500 - at_once));
        assert_eq!(flow.claim(50), [], "a claim ends what it finds instead of starting it");
        flow.drain();
        assert_eq!(flow.flow().counts.of(PublicState::Cancelled), 500);
        assert!(flow.flow().ended_at.is_some());
    }

    #[test]
    fn cancelling_twice_is_one_cancellation() {
        let mut flow = wide(limits::FLOW_STEP + 2);
        let first = flow.cancel_flow(CancelPolicy::CancelPending);
        let events = flow.flow().events;
        let again = flow.cancel_flow(CancelPolicy::LetActiveFinish);
        assert_eq!(again, FlowCancelled { already: true, cancelled: 0, ..first });
        assert_eq!(flow.flow().events, events);
    }

    #[test]
    fn cancel_pending_leaves_started_members_running() {
        let mut flow = FlowFixture::of("a>b c");
        flow.start();
        flow.cancel_flow(CancelPolicy::CancelPending);
        assert_eq!(flow.states("a b c"), ["active", "cancelled", "active"]);
        let failure = Failure { category: Kind::parse("error").unwrap(), message: "no".into(), permanent: false };
        let (execution_id, fence) = (flow.member("a"), flow.fence("a"));
        flow.ask(FailArgs { execution_id, fence, failure }).unwrap();
        assert_eq!(flow.state("a"), "delayed", "another try is allowed");
    }

    #[test]
    fn an_attempt_under_way_may_finish_and_nothing_follows_it() {
        let mut flow = FlowFixture::of("a>b c");
        flow.start();
        flow.cancel_flow(CancelPolicy::LetActiveFinish);
        assert_eq!(flow.states("a b c"), ["active", "cancelled", "active"]);
        let failure = Failure { category: Kind::parse("error").unwrap(), message: "no".into(), permanent: false };
        let (execution_id, fence) = (flow.member("a"), flow.fence("a"));
        flow.ask(FailArgs { execution_id, fence, failure }).unwrap();
        assert_eq!(flow.state("a"), "cancelled", "there is no other try");
        assert!(matches!(flow.execution("a").phase, Phase::Finished { by: FinishedBy::FlowCancel, .. }));
        flow.complete("c");
        assert_eq!((flow.flow_state(), flow.flow().ended_at), ("cancelled", Some(flow.now)));
    }

    #[test]
    fn a_flow_cancelled_alone_lets_its_members_go_on() {
        let mut flow = FlowFixture::of("a>b");
        flow.cancel_flow(CancelPolicy::FlowOnly);
        assert_eq!(flow.flow_state(), "cancelled");
        let growth = flow.growth(&["c"], &[]);
        assert_eq!(flow.refused(growth).code, Code::FlowAlreadyTerminal);
        flow.run();
        assert_eq!(flow.states("a b"), ["completed", "completed"]);
    }

    #[test]
    fn all_can_be_cancelled_after_less_was() {
        let mut flow = FlowFixture::of("a b");
        flow.start();
        flow.cancel_flow(CancelPolicy::LetActiveFinish);
        let answer = flow.cancel_flow(CancelPolicy::CancelAll);
        assert_eq!((answer.policy, answer.already, answer.cancelled), (CancelPolicy::CancelAll, false, 2));
    }

    #[test]
    fn members_left_alone_can_still_be_cancelled() {
        let mut flow = FlowFixture::of("a b");
        flow.cancel_flow(CancelPolicy::FlowOnly);
        assert_eq!(flow.cancel_flow(CancelPolicy::CancelAll).cancelled, 2);
    }

    #[test]
    fn a_flow_that_has_ended_cannot_be_cancelled() {
        let mut flow = FlowFixture::of("a");
        flow.run();
        let args =
            CancelFlowArgs { flow_id: flow.id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
        assert_eq!(flow.refused(args).code, Code::FlowAlreadyTerminal);
    }

    #[test]
    fn a_flow_that_is_still_being_opened_is_cancelled_whole() {
        let mut flow = FlowFixture::empty();
        let names: Vec<_> = (0..450).map(|n| format!("n{n}")).collect();
        flow.submit(graph(&names.join(" "), &[])).unwrap();
        flow.cancel_flow(CancelPolicy::CancelAll);
        flow.drain();
        assert_eq!(flow.flow().counts.of(PublicState::Cancelled), 450);
    }
}
