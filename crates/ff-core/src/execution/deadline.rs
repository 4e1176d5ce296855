//! The deadline: an execution that has lived as long as it may ends, wherever it is.

use crate::change::Change;
use crate::execution::{AttemptOutcome, End, Execution, FinishedBy, Outcome};
use crate::lease::LeaseEnding;
use crate::types::TimestampMs;

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
