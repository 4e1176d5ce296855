//! The deadline: an execution that has not ended by then expires, in any phase. An operator may move the deadline.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{AttemptOutcome, End, Execution, FinishedBy, Outcome};
use crate::lease::LeaseEnding;
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TimestampMs};

/// Moves the deadline of a live execution, or gives it one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendDeadlineArgs {
    pub execution_id: ExecutionId,
    /// By the store's clock.
    pub deadline_at: TimestampMs,
}

/// The execution has this deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeadlineExtended {
    /// The previous deadline; absent when it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TimestampMs>,
    pub deadline_at: TimestampMs,
}

impl ExecutionCommand for ExtendDeadlineArgs {
    type Reply = DeadlineExtended;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "deadline_at", limits::TIMESTAMP_MAX_MS, self.deadline_at.0)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<DeadlineExtended>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = extend_deadline(before, self, at.now)?;
        Ok(Decision::of(DeadlineExtended { from: before.deadline_at, deadline_at: self.deadline_at }, [change]))
    }
}

/// Sets the deadline of a live execution, earlier or later than the present one. It applies in every phase. A replay
/// starts with the deadline of the policy again.
fn extend_deadline(execution: &Execution, args: &ExtendDeadlineArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.refused_as(Code::ExecutionNotEligible));
    }
    if args.deadline_at <= now {
        return Err(Refusal::invalid("deadline_at", format!("must be later than now, which is {now}")));
    }
    let mut change = execution.unchanged();
    change.after.deadline_at = Some(args.deadline_at);
    Ok(change)
}

/// Ends a live execution as expired.
pub fn expire(execution: &Execution, now: TimestampMs) -> Change {
    let end = End {
        outcome: Outcome::Expired,
        by: FinishedBy::Deadline,
        lease: LeaseEnding::DeadlinePassed,
        attempt: AttemptOutcome::DeadlinePassed,
        failure: None,
    };
    execution.finish(end, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::due::Due;
    use crate::rule::samples::{at, running, waiting};

    fn to(deadline_at: TimestampMs) -> ExtendDeadlineArgs {
        ExtendDeadlineArgs { execution_id: waiting().id, deadline_at }
    }

    #[test]
    fn a_deadline_is_set_and_moved_both_ways() {
        let first = extend_deadline(&waiting(), &to(at(90)), at(5)).unwrap().after;
        assert_eq!(first.due_at(Due::Deadline), Some(at(90)));
        for (before, until, unmoved) in [(&first, at(40), waiting()), (&running(), at(400), running())] {
            let mut expected = unmoved;
            expected.deadline_at = Some(until);
            assert_eq!(extend_deadline(before, &to(until), at(6)).unwrap().after, expected);
        }
    }

    #[test]
    fn the_deadline_it_has_already_changes_nothing() {
        let first = extend_deadline(&running(), &to(at(90)), at(5)).unwrap().after;
        assert_eq!(extend_deadline(&first, &to(at(90)), at(6)).unwrap(), first.unchanged());
    }

    #[test]
    fn an_ended_execution_and_a_past_deadline_are_refused() {
        let expired = expire(&waiting(), at(1)).after;
        let refusal = extend_deadline(&expired, &to(at(90)), at(2)).unwrap_err();
        assert_eq!((refusal.code, refusal.state.unwrap().as_str()), (Code::ExecutionNotEligible, "expired"));
        for moment in [4, 5] {
            let refusal = extend_deadline(&waiting(), &to(at(moment)), at(5)).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("deadline_at")));
        }
    }

    #[test]
    fn a_deadline_beyond_the_largest_timestamp_is_refused() {
        let last = TimestampMs(limits::TIMESTAMP_MAX_MS);
        assert_eq!(to(last).check(), Ok(()));
        assert_eq!(to(last + 1).check().unwrap_err().code, Code::LimitExceeded);
    }
}
