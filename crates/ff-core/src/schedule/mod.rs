//! Schedules: work that starts at planned times.
//!
//! A tick is submitted under an idempotency key of its own, so it starts once on any number of engines. A [`Turn`]
//! processes a schedule once. Its result is written only over the record version from which the turn was made.

pub mod contracts;
mod cron;
mod definition;
#[cfg(test)]
mod dst;
mod record;
mod target;
#[cfg(test)]
mod tests;
mod timing;
mod turn;
mod write;
mod zone;

pub use contracts::ScheduleRef;
pub use cron::{BadCron, Cron};
pub use definition::{CatchUp, Overlap, ScheduleDefinition};
pub use record::{Pause, QueuedTick, Schedule, SkipReason, StartedWork, TickOutcome, TickRecord};
pub use target::{ScheduleTarget, TickOf};
pub use timing::{CronText, Ticks, Timing};
pub use turn::{OverlapVerdict, TickStep, Turn};
pub use write::ScheduleWrite;
pub use zone::{UnknownZone, Zone};

use crate::types::TimestampMs;

impl ScheduleRef {
    /// Returns one name for both parts, as used in keys and indexes.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Parses the text of [`Self::key`].
    pub fn parse_key(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        let namespace = crate::types::Namespace::parse(namespace).ok()?;
        Some(Self { namespace, name: crate::types::ScheduleName::parse(name).ok()? })
    }
}

impl ScheduleWrite {
    /// Returns the time at which the schedule must be processed next.
    pub fn look_at(&self) -> Option<TimestampMs> {
        self.record.as_ref().and_then(|record| record.look_at())
    }
}
