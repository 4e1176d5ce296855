//! Promotion: a delayed execution becomes ready when its delay has passed.

use crate::change::Change;
use crate::event::{Event, EventKind};
use crate::execution::Execution;
use crate::types::TimestampMs;

/// Makes a delayed execution ready.
pub fn promote(execution: &Execution, now: TimestampMs) -> Change {
    let mut change = execution.enter(execution.ready_phase(), now);
    change.events.push(Event::new(&execution.id, now, EventKind::Promoted));
    change
}
