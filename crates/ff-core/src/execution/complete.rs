//! Completing: the worker that holds the lease reports that the work is done.

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::execution::{AttemptOutcome, End, Execution, FinishedBy, Outcome};
use crate::lease::{Fence, LeaseEnding};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_payload, found};
use crate::payload::Payload;
use crate::rule::change::{Change, Write};
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::types::{ExecutionId, TimestampMs};

/// Completes an execution with a result.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub result: Option<Payload>,
}

/// The execution is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CompletedExecution {
    pub public_state: PublicState,
}

impl ExecutionCommand for CompleteArgs {
    type Reply = CompletedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        self.result.as_ref().map_or(Ok(()), |result| check_payload("result", result))
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<CompletedExecution>, Stop> {
        let change = complete(found(view, &self.execution_id)?, self, at.now)?;
        Ok(Decision::of(CompletedExecution { public_state: PublicState::Completed }, [change]))
    }
}

/// Ends the running attempt with a result.
///
/// A call repeated with the same fence gets the same answer: a worker whose reply got lost must be able to retry without
/// receiving an error.
pub fn complete(execution: &Execution, args: &CompleteArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.ended_for(&args.fence) == Some(LeaseEnding::Completed) {
        return Ok(execution.unchanged());
    }
    execution.held_by(&args.fence, now)?;
    let end = End {
        outcome: Outcome::Success,
        by: FinishedBy::Holder,
        lease: LeaseEnding::Completed,
        attempt: AttemptOutcome::Success,
        failure: None,
    };
    let mut change = execution.finish(end, now);
    change.result = args.result.clone().map_or(Write::Keep, Write::Put);
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::rule::samples::{at, held, running, waiting};
    use crate::types::LeaseEpoch;

    fn args(result: &'static str) -> CompleteArgs {
        let execution = running();
        CompleteArgs { execution_id: execution.id, fence: held(&execution), result: Some(Payload::json(result)) }
    }

    #[test]
    fn finishing_twice_is_one_finish() {
        let first = complete(&running(), &args("1"), at(50)).unwrap();
        let again = complete(&first.after, &args("2"), at(60)).unwrap();
        assert_eq!(again, first.after.unchanged());
        assert_eq!(first.result, Write::Put(Payload::json("1")));
    }

    #[test]
    fn a_fence_that_is_not_the_current_one_finishes_nothing() {
        let mut stale = args("1");
        stale.fence.lease_epoch = LeaseEpoch(0);
        assert_eq!(complete(&running(), &stale, at(50)).unwrap_err().code, Code::StaleLease);
        assert_eq!(complete(&waiting(), &args("1"), at(50)).unwrap_err().code, Code::ExecutionNotActive);
    }
}
