//! Writing: a schedule is changed over the version that was read, so that of two changes at once one is made anew.

use serde::{Deserialize, Serialize};

use super::{Schedule, ScheduleRef, TickRecord};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, schedule_partition};
use crate::view::{Stop, View};

/// Writes a schedule over a version of it, or removes it.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteScheduleArgs {
    pub schedule: ScheduleRef,
    /// The version that must be there; 0 where there must be none.
    pub expected: u64,
    /// Absent when it is to go.
    pub record: Option<Box<Schedule>>,
    /// The outcomes of ticks by this change, for metrics.
    pub noted: Vec<TickRecord>,
}

/// Whether it was written: not, when another version is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleWritten {
    pub written: bool,
}

/// The write of a rule to a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleWrite {
    /// Its home.
    pub partition: u16,
    pub schedule: ScheduleRef,
    /// Absent when it is to go.
    pub record: Option<Box<Schedule>>,
}

impl Command for WriteScheduleArgs {
    type Reply = ScheduleWritten;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        schedule_partition(&self.schedule, partitions)
    }

    /// A call that is repeated finds its own version and is answered as the first time.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ScheduleWritten>, Stop> {
        let partition = self.partition(&at.partitions);
        let known = view.schedule(partition, &self.schedule)?;
        if known == self.record.as_deref() {
            return Ok(Decision::of(ScheduleWritten { written: true }, None));
        }
        if known.map_or(0, |known| known.version) != self.expected {
            return Ok(Decision::of(ScheduleWritten { written: false }, None));
        }
        let write = ScheduleWrite { partition, schedule: self.schedule.clone(), record: self.record.clone() };
        Ok(Decision::about_schedule(ScheduleWritten { written: true }, write))
    }
}
