//! Writes of schedules: a change is written only over the version that was read, so
//! that of two concurrent changes one is made again.

use serde::{Deserialize, Serialize};

use super::{Schedule, ScheduleRef, TickRecord};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, schedule_partition};
use crate::rule::view::{Stop, View};

/// Writes a schedule over a given version, or removes it.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteScheduleArgs {
    pub schedule: ScheduleRef,
    /// The version that must be stored; 0 when none may be stored.
    pub expected: u64,
    /// Absent to remove the schedule.
    pub record: Option<Box<Schedule>>,
    /// Outcomes of ticks in this change, for metrics.
    pub tick_records: Vec<TickRecord>,
}

/// The result of a write. Nothing is written when another version is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleWritten {
    pub written: bool,
}

/// The write of a rule to a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleWrite {
    /// The home partition of the schedule.
    pub partition: u16,
    pub schedule: ScheduleRef,
    /// Absent to remove the schedule.
    pub record: Option<Box<Schedule>>,
}

impl Command for WriteScheduleArgs {
    type Reply = ScheduleWritten;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        schedule_partition(&self.schedule, partitions)
    }

    /// A repeated call finds its own record and returns the same reply as the first time.
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
