//! Promotion: a delay has passed.

use crate::change::Change;
use crate::event::{Event, EventKind};
use crate::execution::{Execution, Phase};
use crate::types::TimestampMs;

/// Lets a delayed execution wait for a worker.
pub fn promote(execution: &Execution, now: TimestampMs) -> Change {
    let mut change = execution.enter(Phase::Waiting, now);
    change.events.push(Event::new(&execution.id, now, EventKind::Promoted));
    change
}
