//! Priority: moves an execution before or after others of its lane.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::Execution;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, Priority, TimestampMs};

/// Changes the priority of a live execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangePriorityArgs {
    pub execution_id: ExecutionId,
    pub priority: Priority,
}

/// The execution has this priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PriorityChanged {
    /// The previous priority; the same when nothing changed.
    pub from: Priority,
    pub priority: Priority,
}

impl ExecutionCommand for ChangePriorityArgs {
    type Reply = PriorityChanged;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<PriorityChanged>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = change_priority(before, self, at.now)?;
        Ok(Decision::of(PriorityChanged { from: before.priority, priority: self.priority }, [change]))
    }
}

/// Changes the priority of a live execution. It applies whenever the execution waits for a worker, now or later. A
/// finished execution is refused, because it waits for no worker.
fn change_priority(execution: &Execution, args: &ChangePriorityArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.refused_as(Code::ExecutionNotEligible));
    }
    let mut change = execution.unchanged();
    if execution.priority != args.priority {
        change.after.priority = args.priority;
        let what = EventKind::Prioritised { from: execution.priority, to: args.priority };
        change.events.push(Event::new(&execution.id, now, what));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::cancel;
    use crate::execution::contracts::CancelArgs;
    use crate::rule::index::{Index, entries};
    use crate::rule::samples::{at, running, waiting};

    fn args(priority: i64) -> ChangePriorityArgs {
        ChangePriorityArgs { execution_id: waiting().id, priority: Priority::new(priority).unwrap() }
    }

    #[test]
    fn a_waiting_execution_moves_to_its_new_place_in_the_lane() {
        let place = |execution: &Execution| {
            let in_lane = |(index, score)| matches!(index, Index::LaneEligible(..)).then_some(score);
            entries(execution).into_iter().find_map(in_lane).unwrap()
        };
        let change = change_priority(&waiting(), &args(7), at(5)).unwrap();
        assert!(place(&change.after) < place(&waiting()));
        assert_eq!(change.after.changed_at, waiting().changed_at, "its phase is the same");
    }

    #[test]
    fn the_priority_it_has_already_changes_nothing() {
        let first = change_priority(&running(), &args(7), at(5)).unwrap();
        assert_eq!(change_priority(&first.after, &args(7), at(6)).unwrap(), first.after.unchanged());
    }

    #[test]
    fn a_finished_execution_is_refused() {
        let cancelled = CancelArgs { execution_id: waiting().id, reason: None, requested_by: None };
        let finished = cancel(&waiting(), &cancelled, at(1)).unwrap().after;
        let refusal = change_priority(&finished, &args(7), at(2)).unwrap_err();
        assert_eq!((refusal.code, refusal.state.unwrap().as_str()), (Code::ExecutionNotEligible, "cancelled"));
    }
}
