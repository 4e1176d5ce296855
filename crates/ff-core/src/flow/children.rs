//! Waiting for children: a holder gives up its lease until the join of the members that it added is decided.

use serde::{Deserialize, Serialize};

use super::GroupState;
use crate::engine_error::Code;
use crate::event::{Event, EventKind};
use crate::execution::{Blocker, Phase};
use crate::lease::{Fence, LeaseEnding};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::view::{Stop, View};
use crate::types::ExecutionId;

/// A request of a holder to give up its lease until the join of its children is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitForChildrenArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
}

/// Result of waiting for children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WaitedForChildren {
    /// `pending` when the lease is given up and the execution waits. Otherwise the decision of the join, and the lease
    /// is kept.
    pub state: GroupState,
}

impl ExecutionCommand for WaitForChildrenArgs {
    type Reply = WaitedForChildren;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    /// Ends the lease until the join of the holder's children is decided. If the join is decided already, the holder
    /// keeps the lease. The attempt stays open and continues after any decision of the join: only the handler can judge
    /// the failure of a child.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<WaitedForChildren>, Stop> {
        let now = at.now;
        let execution = found(view, &self.execution_id)?;
        if execution.ended_for(&self.fence) == Some(LeaseEnding::WaitingForChildren) {
            return Ok(Decision::of(WaitedForChildren { state: GroupState::Pending }, None));
        }
        execution.held_by(&self.fence, now)?;
        if execution.membership.is_none() {
            return Err(Code::ExecutionNotInFlow.refusal().at("execution_id").because("is in no flow").into());
        }
        let Some(group) = view.group(&execution.id)?.filter(|group| group.round > 0) else {
            return Err(Code::InvalidDependency.refusal().because("the execution has no children to wait for").into());
        };
        if group.state != GroupState::Pending {
            return Ok(Decision::of(WaitedForChildren { state: group.state }, None));
        }
        let phase = Phase::Blocked { on: Blocker::Dependencies, until: None };
        let mut change = execution.end_lease(phase, LeaseEnding::WaitingForChildren, None, now);
        change.events.push(Event::new(&execution.id, now, EventKind::WaitsForChildren));
        Ok(Decision::of(WaitedForChildren { state: GroupState::Pending }, [change]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Refusal;
    use crate::flow::OnSatisfied;
    use crate::flow::contracts::{GrowFlowArgs, JoinSpec, MemberRef};
    use crate::flow::fixture::{FlowFixture, any_of, named};

    fn wait(flow: &mut FlowFixture, name: &str) -> Result<GroupState, Refusal> {
        let args = WaitForChildrenArgs { execution_id: flow.member(name), fence: flow.fence(name) };
        Ok(flow.ask(args)?.state)
    }

    fn add(flow: &mut FlowFixture, children: &[&str]) {
        let edges: Vec<_> = children.iter().map(|child| (*child, "p")).collect();
        let holder = Some((flow.member("p"), flow.fence("p")));
        let growth = GrowFlowArgs { holder, ..flow.growth(children, &edges) };
        flow.ask(growth).unwrap();
    }

    #[test]
    fn a_holder_waits_for_its_children_and_resumes_the_same_attempt() {
        let mut flow = FlowFixture::of("p>q");
        flow.start();
        add(&mut flow, &["c1", "c2"]);
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Pending));
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Pending), "a lost reply is asked for again");
        assert_eq!(flow.states("p c1"), ["waiting_children", "waiting"]);
        flow.start();
        flow.complete("c1");
        flow.complete("c2");
        assert_eq!(flow.state("p"), "waiting");
        let task = flow.claim(1).remove(0);
        assert!(task.resumed);
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Satisfied));
        flow.complete("p");
        flow.run();
        assert_eq!(flow.flow_state(), "completed");
    }

    #[test]
    fn a_child_that_failed_is_for_its_parent_to_judge() {
        let mut flow = FlowFixture::of("p");
        flow.start();
        add(&mut flow, &["c1"]);
        wait(&mut flow, "p").unwrap();
        flow.start();
        flow.fail("c1");
        assert_eq!(flow.state("p"), "waiting");
        flow.start();
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Impossible));
        flow.complete("p");
        assert_eq!(flow.flow_state(), "completed", "the parent took care of it");
    }

    #[test]
    fn a_holder_may_wait_again_for_others() {
        let mut flow = FlowFixture::of("a>p");
        flow.run_until("a");
        flow.start();
        add(&mut flow, &["c1"]);
        flow.start();
        flow.fail("c1");
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Impossible));
        add(&mut flow, &["c2"]);
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Pending), "what was counted before counts no more");
        flow.start();
        flow.complete("c2");
        flow.start();
        assert_eq!(wait(&mut flow, "p"), Ok(GroupState::Satisfied));
    }

    #[test]
    fn an_any_of_join_resumes_the_parent_after_its_first_child() {
        let mut flow = FlowFixture::of("p");
        flow.start();
        let join = JoinSpec { member: MemberRef::Node(named("p")), join: any_of(OnSatisfied::CancelRemaining) };
        let holder = Some((flow.member("p"), flow.fence("p")));
        let growth = flow.growth(&["c1", "c2"], &[("c1", "p"), ("c2", "p")]);
        flow.ask(GrowFlowArgs { holder, joins: vec![join], ..growth }).unwrap();
        wait(&mut flow, "p").unwrap();
        flow.start();
        flow.complete("c2");
        assert_eq!(flow.states("c1 p"), ["cancelled", "waiting"]);
    }

    #[test]
    fn waiting_needs_children_and_a_lease() {
        let mut flow = FlowFixture::of("p>q");
        flow.start();
        assert_eq!(wait(&mut flow, "p").unwrap_err().code, Code::InvalidDependency);
        flow.complete("p");
        assert_eq!(wait(&mut flow, "p").unwrap_err().code, Code::ExecutionNotActive);
    }
}
