//! Replaying a member: it waits for its join by the current counts, its dependents are notified that it runs again, and
//! finished dependents may run again after it.

use super::{CancelPolicy, GroupState, Step, StepOutcome};
use crate::engine_error::Code;
use crate::execution::Execution;
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::TimestampMs;

/// Runs the step of a replay: `change` starts a finished execution again. The change of an execution without a flow is
/// returned as it is.
pub(crate) fn replay(
    view: &dyn View,
    execution: &Execution,
    mut change: Change,
    reopen_downstream: bool,
    now: TimestampMs,
) -> Result<StepOutcome, Stop> {
    let Some(membership) = &execution.membership else {
        return Ok(StepOutcome { changes: vec![change], ..StepOutcome::default() });
    };
    let mut step = Step::new(view, now);
    let flow = step.flow(&membership.flow_id)?;
    if flow.is_being_forgotten() {
        return Err(Code::ExecutionNotFound.into());
    }
    if flow.cancel.as_ref().is_some_and(|cancel| cancel.policy != CancelPolicy::FlowOnly) {
        return Err(Code::FlowAlreadyTerminal.refusal().because(format!("the flow is {}", flow.state())).into());
    }
    if let Some(mut group) = step.group(&execution.id)? {
        // The replayed execution has not added children yet, so a former round of children does not block it.
        if group.round > 0 {
            group.state = GroupState::Satisfied;
            group.fired_at.get_or_insert(now);
        } else {
            group.evaluate(now);
        }
        if group.state == GroupState::Impossible {
            let why = "its join can no longer be met; replay an upstream first";
            return Err(Code::DepsNotSatisfied.refusal().in_state(execution.public_state()).because(why).into());
        }
        step.put_group(group)?;
    }
    step.mark_replay_pending(&mut change, reopen_downstream);
    step.write(change)?;
    step.admit(&execution.id)?;
    step.run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::OnSatisfied;
    use crate::flow::fixture::{FlowFixture, graph, quorum};

    #[test]
    fn a_replay_reopens_what_depends_on_it() {
        let mut flow = FlowFixture::of("a>b b>c x>c");
        flow.start();
        flow.fail("a");
        flow.complete("x");
        assert_eq!((flow.states("a b c"), flow.flow_state()), (vec!["failed", "skipped", "skipped"], "failed"));
        assert_eq!(flow.replay("b", false), Err(Code::DepsNotSatisfied));
        assert_eq!(flow.replay("a", true), Ok("waiting"));
        assert_eq!(flow.states("a b c x"), ["waiting", "waiting_children", "waiting_children", "completed"]);
        assert_eq!(flow.flow_state(), "running");
        flow.run();
        assert_eq!((flow.state("c"), flow.flow_state()), ("completed", "completed"));
    }

    #[test]
    fn a_replay_alone_leaves_its_dependents_as_they_are() {
        let mut flow = FlowFixture::of("a>b b>c");
        flow.run();
        assert_eq!(flow.replay("b", false), Ok("waiting"));
        assert_eq!((flow.state("c"), flow.flow_state()), ("completed", "running"));
        flow.run();
        assert_eq!((flow.execution("c").replays, flow.flow_state()), (0, "completed"));
    }

    #[test]
    fn a_dependent_that_has_not_started_waits_for_the_replay() {
        let mut flow = FlowFixture::of("a>c b>c");
        flow.start();
        flow.complete("a");
        assert_eq!(flow.replay("a", false), Ok("waiting"));
        flow.complete("b");
        assert_eq!(flow.state("c"), "waiting_children");
        flow.run();
        assert_eq!(flow.state("c"), "completed");
    }

    #[test]
    fn a_skipped_child_of_a_quorum_runs_once_its_upstreams_allow() {
        let mut flow = FlowFixture::with(graph("a>d b>d c>d", &[("d", quorum(2, OnSatisfied::LetRun))]));
        flow.start();
        flow.fail("a");
        flow.fail("b");
        flow.complete("c");
        assert_eq!(flow.replay("d", false), Err(Code::DepsNotSatisfied));
        flow.replay("a", false).unwrap();
        assert_eq!(flow.replay("d", false), Ok("waiting_children"), "it is possible again");
        flow.run();
        assert_eq!(flow.states("a b c d"), ["completed", "failed", "completed", "completed"]);
        assert_eq!(flow.flow_state(), "completed");
    }

    #[test]
    fn many_dependents_know_before_it_runs_again() {
        let edges: Vec<_> = (0..300).map(|n| format!("a>n{n} n{n}>z")).collect();
        let mut flow = FlowFixture::empty();
        flow.watched = false;
        flow.submit(graph(&edges.join(" "), &[])).unwrap();
        flow.run();
        assert_eq!(flow.flow_state(), "completed");
        flow.watched = true;
        assert_eq!(flow.replay("a", true), Ok("waiting_children"), "its dependents do not all know yet");
        assert_eq!(flow.claim(10), []);
        flow.drain();
        assert_eq!(flow.states("a n0 n299 z"), ["waiting", "waiting_children", "waiting_children", "waiting_children"]);
        flow.watched = false;
        flow.run();
        assert_eq!((flow.execution("z").replays, flow.flow_state()), (1, "completed"));
    }

    #[test]
    fn nothing_of_a_cancelled_flow_runs_again() {
        let mut flow = FlowFixture::of("a");
        flow.cancel_flow(CancelPolicy::CancelAll);
        assert_eq!(flow.replay("a", false), Err(Code::FlowAlreadyTerminal));
    }
}
