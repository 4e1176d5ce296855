//! Arguments and replies about schedules.

use serde::{Deserialize, Serialize};

use super::{Schedule, ScheduleDefinition, TickRecord};
use crate::engine_error::{Code, Refusal, check_limit, check_page};
use crate::limits;
use crate::operation::command::check_message;
use crate::types::{Namespace, ScheduleName, TimestampMs};

pub use super::write::{ScheduleWritten, WriteScheduleArgs};

/// A reference to a schedule by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScheduleRef {
    pub namespace: Namespace,
    pub name: ScheduleName,
}

/// Creates or replaces a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct PutScheduleArgs {
    pub schedule: ScheduleRef,
    pub definition: ScheduleDefinition,
}

/// Pauses a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseScheduleArgs {
    pub schedule: ScheduleRef,
    pub reason: Option<String>,
}

impl PauseScheduleArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())
    }
}

/// Starts the work of the ticks of a past range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackfillArgs {
    pub schedule: ScheduleRef,
    pub from: TimestampMs,
    /// End of the range, inclusive.
    pub to: TimestampMs,
}

impl BackfillArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.from.0 < 0 {
            return Err(Refusal::invalid("from", format!("must be 0 or more, got {}", self.from)));
        }
        if self.to < self.from {
            return Err(Refusal::invalid("to", format!("must not be before from, {}; got {}", self.from, self.to)));
        }
        Ok(())
    }

    /// Returns the ticks of the range. Refuses a range that ends in the future.
    pub fn ticks(&self, schedule: &Schedule, now: TimestampMs) -> Result<Vec<TimestampMs>, Refusal> {
        if self.to > now {
            return Err(Refusal::invalid("to", format!("must not be in the future, got {}", self.to)));
        }
        // The bounds of the schedule limit its automatic ticks only; a requested range may lie outside.
        let unbounded = super::Ticks { starts_at: None, ends_at: None, ..schedule.ticks() };
        let mut ticks = unbounded.following(self.from - 1, limits::BACKFILL_TICKS + 1);
        ticks.retain(|tick| *tick <= self.to);
        if ticks.len() > limits::BACKFILL_TICKS {
            let why =
                format!("must leave at most {} ticks after from; ask for the rest separately", limits::BACKFILL_TICKS);
            return Err(Refusal::new(Code::LimitExceeded).at("to").because(why));
        }
        Ok(ticks)
    }
}

/// Outcome of each tick of the range, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackfilledTicks {
    pub ticks: Vec<TickRecord>,
}

/// The next ticks of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NextTicks {
    pub ticks: Vec<TimestampMs>,
}

/// A schedule and its next ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleInfo {
    pub schedule: Schedule,
    /// The next five ticks; none while the schedule is paused.
    pub next_ticks: Vec<TimestampMs>,
}

impl ScheduleInfo {
    pub fn of(schedule: Schedule) -> Self {
        let next_ticks = schedule.next_ticks(limits::TICKS_LISTED);
        Self { schedule, next_ticks }
    }
}

impl Schedule {
    /// Returns at most `count` next ticks; none while the schedule is paused.
    pub fn next_ticks(&self, count: usize) -> Vec<TimestampMs> {
        let next = self.next_tick.filter(|_| self.paused.is_none());
        std::iter::successors(next, |tick| self.ticks().after(*tick)).take(count).collect()
    }
}

/// Refuses to list more ticks than the limit.
pub fn check_tick_count(count: usize) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, "count", limits::PAGE, count)
}

/// A request for schedules of a namespace, after a given name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSchedulesArgs {
    pub namespace: Namespace,
    pub after: Option<ScheduleName>,
    pub limit: usize,
}

impl ListSchedulesArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// Schedules in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchedulesPage {
    pub schedules: Vec<Schedule>,
    /// Start of the next page; `None` at the end.
    pub next: Option<ScheduleName>,
}

impl SchedulesPage {
    /// Creates a page from a list that has one row more than `limit` if there are further schedules.
    pub fn of(mut schedules: Vec<Schedule>, limit: usize) -> Self {
        let is_more = schedules.len() > limit;
        schedules.truncate(limit);
        let next = schedules.last().filter(|_| is_more).map(|last| last.name.clone());
        Self { schedules, next }
    }
}

/// A request for the schedules of a partition that must be processed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSchedulesArgs {
    pub partition: u16,
    pub limit: usize,
}

/// A schedule, and the time at which it must be processed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueSchedule {
    pub look_at: TimestampMs,
    pub schedule: ScheduleRef,
}

/// The time at which the first schedule of a partition must be processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionTick {
    pub partition: u16,
    pub look_at: TimestampMs,
}

/// The reply to a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ScheduleDeleted {
    /// True when it did not exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
}
