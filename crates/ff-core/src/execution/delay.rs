//! Delays: the holder returns the work until a given time, and the same attempt continues then. An execution becomes ready when
//! its delay has passed.

use serde::{Deserialize, Serialize};

use super::submit::Start;
use crate::engine_error::Refusal;
use crate::event::{Event, EventKind};
use crate::execution::{DelayReason, Execution, Phase};
use crate::lease::{Fence, LeaseEnding};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TimestampMs};

/// Releases the lease until a given time; the same attempt continues then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub start: Start,
}

/// The execution is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DelayedExecution {
    pub until: TimestampMs,
}

impl ExecutionCommand for DelayArgs {
    type Reply = DelayedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        self.start.check()
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<DelayedExecution>, Stop> {
        let change = delay(found(view, &self.execution_id)?, self, at.now)?;
        let until = match change.after.last_lease.as_ref().map(|last| last.ended) {
            Some(LeaseEnding::Delayed { until }) => until,
            _ => at.now,
        };
        Ok(Decision::of(DelayedExecution { until }, [change]))
    }
}

/// Releases the lease and delays the execution. With a time in the past, the execution is ready at once.
fn delay(execution: &Execution, args: &DelayArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if let Some(LeaseEnding::Delayed { .. }) = execution.ended_for(&args.fence) {
        return Ok(execution.unchanged());
    }
    execution.held_by(&args.fence, now)?;
    let later = args.start.later_than(now);
    let phase = match later {
        Some(until) => Phase::Delayed { until, why: DelayReason::Holder },
        None => execution.ready_phase(),
    };
    let until = later.unwrap_or(now);
    let mut change = execution.end_lease(phase, LeaseEnding::Delayed { until }, None, now);
    change.events.push(Event::new(&execution.id, now, EventKind::Delayed { until }));
    Ok(change)
}

/// Makes a delayed execution ready.
pub fn promote(execution: &Execution, now: TimestampMs) -> Change {
    let mut change = execution.enter(execution.ready_phase(), now);
    change.events.push(Event::new(&execution.id, now, EventKind::Promoted));
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::AttemptSlot;
    use crate::rule::samples::{at, held, running};

    fn args(start: Start) -> DelayArgs {
        DelayArgs { execution_id: running().id, fence: held(&running()), start }
    }

    #[test]
    fn the_attempt_stays_open_and_remembers_how_long_it_ran() {
        let change = delay(&running(), &args(Start::After(1_000)), at(400)).unwrap();
        let AttemptSlot::Open(attempt) = &change.after.attempt else { panic!("the attempt ended") };
        assert_eq!(attempt.ran_ms, 400);
        assert!(change.attempts.is_empty());
        assert_eq!(change.after.phase, Phase::Delayed { until: at(1_400), why: DelayReason::Holder });
    }

    #[test]
    fn a_repeated_delay_changes_nothing() {
        let first = delay(&running(), &args(Start::After(1_000)), at(400)).unwrap();
        let again = delay(&first.after, &args(Start::After(9_000)), at(500)).unwrap();
        assert_eq!(again, first.after.unchanged());
    }
}
