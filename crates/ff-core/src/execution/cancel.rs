//! Cancelling: ends a live execution in any phase.

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::execution::{AttemptOutcome, End, Execution, FinishedBy, Outcome, Phase};
use crate::lease::LeaseEnding;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::types::{ExecutionId, TimestampMs};

/// Cancels a live execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelArgs {
    pub execution_id: ExecutionId,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

/// The execution is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CancelledExecution {
    pub public_state: PublicState,
    /// True when it was already cancelled.
    pub already: bool,
}

impl ExecutionCommand for CancelArgs {
    type Reply = CancelledExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<CancelledExecution>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = cancel(before, self, at.now)?;
        let (public_state, already) = (change.after.public_state(), before.is_finished());
        Ok(Decision::of(CancelledExecution { public_state, already }, [change]))
    }
}

/// Ends a live execution as cancelled. Repeating the call changes nothing; an execution that ended otherwise is refused.
pub fn cancel(execution: &Execution, args: &CancelArgs, now: TimestampMs) -> Result<Change, Refusal> {
    match execution.phase {
        Phase::Finished { outcome: Outcome::Cancelled, .. } => Ok(execution.unchanged()),
        Phase::Finished { .. } => Err(execution.not_active()),
        Phase::Delayed { .. }
        | Phase::Waiting
        | Phase::Blocked { .. }
        | Phase::Running { .. }
        | Phase::Suspended { .. } => {
            let by = FinishedBy::Cancel { reason: args.reason.clone(), requested_by: args.requested_by.clone() };
            Ok(execution.cancelled(by, now))
        }
    }
}

impl Execution {
    /// Ends the execution as cancelled.
    pub(crate) fn cancelled(&self, by: FinishedBy, now: TimestampMs) -> Change {
        self.called_off(Outcome::Cancelled, by, now)
    }

    /// Ends the execution, which takes its lease and its attempt away from a holder.
    pub(crate) fn called_off(&self, outcome: Outcome, by: FinishedBy, now: TimestampMs) -> Change {
        let (lease, attempt) = (LeaseEnding::Cancelled, AttemptOutcome::Cancelled);
        self.finish(End { outcome, by, lease, attempt, failure: None }, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::rule::samples::{at, held, running, waiting};

    fn args() -> CancelArgs {
        CancelArgs { execution_id: waiting().id, reason: Some("changed my mind".into()), requested_by: None }
    }

    #[test]
    fn a_holder_of_something_cancelled_is_refused() {
        let before = running();
        let change = cancel(&before, &args(), at(5)).unwrap();
        let refusal = change.after.held_by(&held(&before), at(6)).unwrap_err();
        assert_eq!(refusal.code, Code::ExecutionNotActive);
        assert_eq!(refusal.state.unwrap().as_str(), "cancelled");
        assert_eq!(change.attempts.len(), 1);
    }

    #[test]
    fn cancelling_twice_is_one_cancellation() {
        let first = cancel(&waiting(), &args(), at(5)).unwrap();
        let again = cancel(&first.after, &args(), at(6)).unwrap();
        assert_eq!(again, first.after.unchanged());
    }
}
