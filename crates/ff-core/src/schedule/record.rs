//! The record of a schedule.

use serde::{Deserialize, Serialize};

use super::{ScheduleDefinition, TickOf, Ticks};
use crate::engine_error::Refusal;
use crate::limits;
use crate::state::text_enum;
use crate::types::{ExecutionId, FlowId, Namespace, ScheduleId, ScheduleName, TimestampMs};

/// A schedule: its definition, its next tick and its latest ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub id: ScheduleId,
    pub namespace: Namespace,
    pub name: ScheduleName,
    pub definition: ScheduleDefinition,
    /// Increases with every change. A change is written only over the version from which it was made.
    pub version: u64,
    pub created_at: TimestampMs,
    /// Time of the last change of the definition, pause or resumption.
    pub changed_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// The first tick that is not handled yet; `None` when there are no further ticks.
    pub next_tick: Option<TimestampMs>,
    /// A tick that waits until the work of the previous tick has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<QueuedTick>,
    /// The work that was started last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_started: Option<StartedWork>,
    /// The ticks that were handled last, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<TickRecord>,
}

/// The pause of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pause {
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A tick that waits until the work of the previous tick has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedTick {
    pub tick: TimestampMs,
    /// Time of the next check whether the tick may start, in case the end was not announced.
    pub look_at: TimestampMs,
}

/// The work that a tick started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartedWork {
    Execution(ExecutionId),
    Flow(FlowId),
}

/// A tick and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TickRecord {
    /// Scheduled time of the tick.
    pub tick: TimestampMs,
    /// When it was handled.
    pub handled_at: TimestampMs,
    pub outcome: TickOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    /// Why nothing was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SkipReason>,
    /// Why the submission was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// True when an operator triggered it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub triggered: bool,
}

text_enum! {
    /// Outcome of a tick.
    TickOutcome {
        Started "started",
        /// It waits until the work of the previous tick has ended.
        Queued "queued",
        Skipped "skipped",
        /// Its submission was refused.
        Refused "refused",
    }

    /// Why a tick started nothing.
    SkipReason {
        /// The work of the previous tick has not ended.
        PreviousLives "previous_lives",
        /// Another tick already waits for that.
        AnotherQueued "another_queued",
        /// It was missed, and a later tick runs instead.
        LaterTick "later_tick",
        /// It was missed for longer than the catch-up window.
        Missed "missed",
        /// An execution with the same singleton key is live.
        Singleton "singleton",
    }
}

impl Schedule {
    /// Returns the times of the schedule's ticks.
    pub fn ticks(&self) -> Ticks<'_> {
        let ScheduleDefinition { timing, time_zone, starts_at, ends_at, .. } = &self.definition;
        let anchor = starts_at.unwrap_or(self.created_at);
        Ticks { timing, zone: time_zone, anchor, starts_at: *starts_at, ends_at: *ends_at }
    }

    /// Returns one tick of the schedule.
    pub fn tick(&self, tick: TimestampMs) -> TickOf<'_> {
        TickOf { id: self.id, namespace: &self.namespace, name: &self.name, tick }
    }

    /// Returns when a tick starts: its time plus its jitter.
    pub fn start_of(&self, tick: TimestampMs) -> TimestampMs {
        tick + self.tick(tick).jitter(self.definition.jitter_ms)
    }

    /// Returns the time at which the schedule must be processed next, if any.
    pub fn look_at(&self) -> Option<TimestampMs> {
        if self.paused.is_some() {
            return None;
        }
        let queued = self.queued.map(|queued| queued.look_at);
        self.next_tick.map(|tick| self.start_of(tick)).into_iter().chain(queued).min()
    }

    /// Creates a schedule.
    pub fn create(
        id: ScheduleId,
        (namespace, name): (Namespace, ScheduleName),
        definition: ScheduleDefinition,
        now: TimestampMs,
    ) -> Result<Self, Refusal> {
        let definition = definition.normalized(&namespace);
        let schedule = Self {
            id,
            namespace,
            name,
            definition,
            version: 1,
            created_at: now,
            changed_at: now,
            paused: None,
            next_tick: None,
            queued: None,
            last_started: None,
            ticks: Vec::new(),
        };
        schedule.with_next_tick(now)
    }

    /// Returns the schedule with another definition; `None` when the definition is the same.
    pub fn redefine(&self, definition: ScheduleDefinition, now: TimestampMs) -> Result<Option<Self>, Refusal> {
        let definition = definition.normalized(&self.namespace);
        if self.definition == definition {
            return Ok(None);
        }
        let when = |of: &ScheduleDefinition| (of.timing.clone(), of.time_zone.clone(), of.starts_at, of.ends_at);
        let keeps_ticks = when(&self.definition) == when(&definition);
        let changed = Self { definition, changed_at: now, ..self.next_version() };
        changed.definition.check(&changed.tick(now))?;
        if keeps_ticks { Ok(Some(changed)) } else { changed.with_next_tick(now).map(Some) }
    }

    fn with_next_tick(mut self, now: TimestampMs) -> Result<Self, Refusal> {
        self.definition.check(&self.tick(now))?;
        self.next_tick = self.ticks().after(now);
        if self.next_tick.is_some() {
            return Ok(self);
        }
        let (field, what) = match (self.definition.ends_at, &self.definition.timing) {
            (_, super::Timing::At(at)) => ("at", format!("must be in the future, got {at}")),
            (Some(ends_at), _) => ("ends_at", format!("must leave a tick to come, got {ends_at}")),
            (None, _) => ("cron", "must have a tick to come".into()),
        };
        Err(Refusal::invalid(field, what))
    }

    /// Pauses the schedule. Returns `None` when it is already paused for the same reason.
    pub fn pause(&self, reason: Option<String>, now: TimestampMs) -> Option<Self> {
        if self.paused.as_ref().is_some_and(|paused| paused.reason == reason) {
            return None;
        }
        let at = self.paused.as_ref().map_or(now, |paused| paused.at);
        Some(Self { paused: Some(Pause { at, reason }), changed_at: now, ..self.next_version() })
    }

    /// Resumes the schedule. Returns `None` when it is not paused. Ticks during the pause are skipped.
    pub fn resume(&self, now: TimestampMs) -> Option<Self> {
        self.paused.as_ref()?;
        let mut after = Self { paused: None, changed_at: now, ..self.next_version() };
        if after.next_tick.is_some_and(|tick| tick <= now) {
            after.next_tick = after.ticks().after(now);
        }
        Some(after)
    }

    pub(super) fn next_version(&self) -> Self {
        Self { version: self.version + 1, ..self.clone() }
    }

    /// Records the outcome of a tick. It replaces the entry of a queued tick.
    pub(super) fn note(&mut self, record: TickRecord) {
        match self.ticks.iter_mut().find(|known| known.tick == record.tick && known.outcome == TickOutcome::Queued) {
            Some(known) => *known = record,
            None => self.ticks.push(record),
        }
        let surplus = self.ticks.len().saturating_sub(limits::SCHEDULE_TICKS);
        self.ticks.drain(..surplus);
    }
}
