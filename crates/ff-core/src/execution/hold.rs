//! Holding: an operator keeps an execution from being claimed until it is released.

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::event::{Event, EventKind};
use crate::execution::{Blocker, Execution};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::types::{ExecutionId, TimestampMs};

/// An operator's hold on an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Hold {
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Places an operator's hold on an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldArgs {
    pub execution_id: ExecutionId,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

/// The execution is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HoldPlaced {
    pub public_state: PublicState,
    /// True when it was already held; the first hold is unchanged.
    pub already: bool,
}

impl ExecutionCommand for HoldArgs {
    type Reply = HoldPlaced;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<HoldPlaced>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = hold(before, self, at.now)?;
        let (public_state, already) = (change.after.public_state(), before.hold.is_some());
        Ok(Decision::of(HoldPlaced { public_state, already }, [change]))
    }
}

/// Places a hold on a live execution. A ready execution is blocked at once, any other as soon as it becomes ready. The
/// hold replaces another blocker of admission, which is checked again after the release.
fn hold(execution: &Execution, args: &HoldArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.not_active());
    }
    if execution.hold.is_some() {
        return Ok(execution.unchanged());
    }
    let hold = Hold { at: now, requested_by: args.requested_by.clone(), reason: args.reason.clone() };
    let held = Execution { hold: Some(Box::new(hold)), ..execution.clone() };
    let mut change = if execution.is_ready() { held.enter(held.ready_phase(), now) } else { held.unchanged() };
    let reason = Blocker::Operator.reason();
    change.events.push(Event::new(&execution.id, now, EventKind::Blocked { reason }));
    Ok(change)
}

/// Removes the operator's hold from an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseHoldArgs {
    pub execution_id: ExecutionId,
}

/// The execution is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HoldReleased {
    pub public_state: PublicState,
    /// True when it had no hold.
    pub already: bool,
}

impl ExecutionCommand for ReleaseHoldArgs {
    type Reply = HoldReleased;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<HoldReleased>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = release(before, at.now)?;
        let (public_state, already) = (change.after.public_state(), before.hold.is_none());
        Ok(Decision::of(HoldReleased { public_state, already }, [change]))
    }
}

/// Removes a hold. An execution that it blocked becomes ready, at the place in its queue that its priority and age give it.
fn release(execution: &Execution, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.not_active());
    }
    if execution.hold.is_none() {
        return Ok(execution.unchanged());
    }
    let released = Execution { hold: None, ..execution.clone() };
    let mut change =
        if execution.is_ready() { released.enter(released.ready_phase(), now) } else { released.unchanged() };
    let reason = Blocker::Operator.reason();
    change.events.push(Event::new(&execution.id, now, EventKind::Unblocked { reason }));
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::execution::contracts::{CancelArgs, ReplayArgs, Start, SubmitArgs};
    use crate::execution::{Phase, cancel};
    use crate::lease::contracts::RevokeArgs;
    use crate::lease::{expire, revoke};
    use crate::model::Model;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running, waiting, work};

    const OPERATOR: Phase = Phase::Blocked { on: Blocker::Operator, until: None };

    fn args() -> HoldArgs {
        let (reason, requested_by) = (Some("a bad release".into()), Some("ada".into()));
        HoldArgs { execution_id: waiting().id, reason, requested_by }
    }

    fn held(execution: &Execution) -> Execution {
        hold(execution, &args(), at(5)).unwrap().after
    }

    #[test]
    fn a_hold_blocks_a_ready_execution_and_records_its_requester() {
        let after = held(&waiting());
        assert_eq!(after.phase, OPERATOR);
        let hold = after.hold.clone().unwrap();
        assert_eq!((hold.at, hold.requested_by.as_deref()), (at(5), Some("ada")));
        let words = after.state_vector();
        assert_eq!(
            (words.public_state.as_str(), words.eligibility_state.as_str(), words.blocking_reason.as_str()),
            ("waiting", "blocked_by_operator", "paused_by_operator")
        );
        assert_eq!(release(&after, at(9)).unwrap().after, Execution { changed_at: at(9), ..waiting() });
    }

    #[test]
    fn holding_and_releasing_twice_is_once() {
        let first = held(&waiting());
        assert_eq!(hold(&first, &HoldArgs { reason: None, ..args() }, at(6)).unwrap(), first.unchanged());
        assert_eq!(release(&waiting(), at(6)).unwrap(), waiting().unchanged());
    }

    #[test]
    fn a_running_execution_continues_and_is_held_once_it_is_ready_again() {
        let after = held(&running());
        assert_eq!(after.phase, running().phase);
        assert_eq!(expire(&after, at(30_000)).after.phase, OPERATOR);
        let args = RevokeArgs { execution_id: after.id, lease_id: None, reason: None };
        assert_eq!(revoke(&after, &args, at(6)).unwrap().after.phase, OPERATOR);
        assert_eq!(release(&after, at(7)).unwrap().after, running());
    }

    #[test]
    fn a_delay_that_ends_leads_to_the_hold() {
        let mut model = Model::default();
        let delayed = SubmitArgs { start: Start::After(100), ..work() };
        let id = model.submit(&delayed, at(0)).unwrap().execution_id;
        let delayed = held(model.find(&id).unwrap());
        assert_eq!(crate::execution::promote(&delayed, at(100)).after.phase, OPERATOR);
    }

    #[test]
    fn a_replay_is_not_held_by_what_an_operator_said_before() {
        let mut fixture = ExecutionFixture::running(at(0));
        let execution_id = fixture.id;
        fixture.ask(HoldArgs { execution_id, ..args() }, at(1)).unwrap();
        fixture.ask(CancelArgs { execution_id, reason: None, requested_by: None }, at(2)).unwrap();
        assert_eq!(fixture.execution().info().hold, None, "what has finished is not held");
        fixture.ask(ReplayArgs::new(execution_id), at(3)).unwrap();
        assert_eq!((fixture.execution().phase.clone(), fixture.execution().hold.clone()), (Phase::Waiting, None));
    }

    #[test]
    fn a_finished_execution_is_refused() {
        let cancelled = CancelArgs { execution_id: waiting().id, reason: None, requested_by: None };
        let finished = cancel(&waiting(), &cancelled, at(1)).unwrap().after;
        assert_eq!(hold(&finished, &args(), at(2)).unwrap_err().code, Code::ExecutionNotActive);
        assert_eq!(release(&finished, at(2)).unwrap_err().code, Code::ExecutionNotActive);
    }
}
