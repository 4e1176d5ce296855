//! Schedules: work that starts at times written ahead.
//!
//! A tick is submitted under a key that names it, so any number of engines start it once. A [`Turn`] is one look at a
//! schedule; the record that comes of it is written over the version it was made from.

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
pub use target::{ScheduleTarget, TickOf, TickStart};
pub use timing::{CronText, Ticks, Timing};
pub use turn::{OverlapVerdict, TickStep, Turn};
pub use write::ScheduleWrite;
pub use zone::{UnknownZone, Zone};

use crate::types::TimestampMs;

impl ScheduleRef {
    /// One name for both parts, as keys and indexes have it.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Reads the text of [`Self::key`].
    pub fn parse_key(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        let namespace = crate::types::Namespace::parse(namespace).ok()?;
        Some(Self { namespace, name: crate::types::ScheduleName::parse(name).ok()? })
    }
}

impl ScheduleWrite {
    /// When the schedule has to be looked at.
    pub fn look_at(&self) -> Option<TimestampMs> {
        self.record.as_ref().and_then(|record| record.look_at())
    }
}
