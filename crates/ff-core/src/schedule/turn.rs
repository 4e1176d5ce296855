//! A turn: one pass over a schedule. The engine asks a turn for the next tick, starts it, and writes the resulting
//! record over the version that it has read. A turn that is repeated starts the same work.

use std::collections::VecDeque;

use super::record::{QueuedTick, Schedule, SkipReason, StartedWork, TickOutcome, TickRecord};
use super::{CatchUp, Overlap};
use crate::limits;
use crate::types::TimestampMs;

/// A schedule during a turn.
#[derive(Clone, Debug)]
pub struct Turn {
    after: Schedule,
    ticks: VecDeque<TimestampMs>,
    now: TimestampMs,
    is_triggered: bool,
    tick_records: Vec<TickRecord>,
}

/// The next step of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickStep {
    /// Check whether this work is live, and continue with [`Turn::overlap`].
    Ask(TimestampMs, StartedWork),
    /// Start the tick, and continue with [`Turn::started`].
    Start(TimestampMs),
    /// The turn is complete.
    Done,
}

/// The decision about a tick after its predecessor was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapVerdict {
    Start,
    CancelAndStart(StartedWork),
    /// The outcome of the tick is recorded. Nothing is started.
    Settled,
}

impl Turn {
    /// Creates a turn for the due ticks of a schedule. Missed ticks are recorded as skipped.
    pub fn of(schedule: &Schedule, now: TimestampMs) -> Self {
        let (ticks, tick_records) = (VecDeque::new(), Vec::new());
        let mut turn = Self { after: schedule.clone(), ticks, now, is_triggered: false, tick_records };
        if schedule.paused.is_none() {
            turn.take_due();
        }
        turn
    }

    /// Creates a turn for a start that an operator requested.
    pub fn triggered(schedule: &Schedule, now: TimestampMs) -> Self {
        Self { after: schedule.clone(), ticks: [now].into(), now, is_triggered: true, tick_records: Vec::new() }
    }

    fn take_due(&mut self) {
        let (now, catch_up_ms) = (self.now, self.after.definition.catch_up_ms);
        self.ticks.extend(self.after.queued.map(|queued| queued.tick));
        let Some(first) = self.after.next_tick.filter(|tick| self.after.start_of(*tick) <= now) else { return };
        let mut next = Some(first);
        if now.since(self.after.start_of(first)) > catch_up_ms {
            // Ticks before the window are skipped all at once.
            let window = now - catch_up_ms - self.after.definition.jitter_ms - 1;
            next = self.after.ticks().after(window.max(first));
            self.skip(first, SkipReason::Missed);
        }
        let mut due = Vec::new();
        while let Some(tick) =
            next.filter(|tick| self.after.start_of(*tick) <= now && due.len() < limits::TICKS_AT_ONCE)
        {
            next = self.after.ticks().after(tick);
            due.push(tick);
        }
        if self.after.definition.catch_up == CatchUp::Last {
            // Only the last tick can run, so earlier ones are dropped to keep the number of ticks bounded.
            while let Some(tick) = next.filter(|tick| self.after.start_of(*tick) <= now) {
                due.remove(0);
                next = self.after.ticks().after(tick);
                due.push(tick);
            }
        }
        self.after.next_tick = next;
        let late = due.iter().filter(|tick| now.since(self.after.start_of(**tick)) > catch_up_ms).count();
        for (nth, tick) in due.iter().enumerate() {
            let is_last = nth + 1 == due.len();
            if nth < late {
                self.skip(*tick, SkipReason::Missed);
            } else if self.after.definition.catch_up == CatchUp::Last && !is_last {
                self.skip(*tick, SkipReason::LaterTick);
            } else {
                self.ticks.push_back(*tick);
            }
        }
    }

    /// Returns the next step.
    pub fn step(&self) -> TickStep {
        let Some(tick) = self.ticks.front().copied() else { return TickStep::Done };
        match self.after.last_started {
            Some(started) if self.after.definition.overlap != Overlap::Allow => TickStep::Ask(tick, started),
            _ => TickStep::Start(tick),
        }
    }

    /// Decides about a tick, given whether the work that was started last is live.
    pub fn overlap(&mut self, tick: TimestampMs, started: StartedWork, lives: bool) -> OverlapVerdict {
        if !lives {
            return OverlapVerdict::Start;
        }
        match self.after.definition.overlap {
            Overlap::Allow => return OverlapVerdict::Start,
            Overlap::CancelPrevious => return OverlapVerdict::CancelAndStart(started),
            Overlap::Skip => self.skip(tick, SkipReason::PreviousLives),
            Overlap::QueueOne => self.queue(tick),
        }
        self.ticks.pop_front();
        OverlapVerdict::Settled
    }

    fn queue(&mut self, tick: TimestampMs) {
        let look_at = self.now + limits::QUEUED_TICK_CHECK_MS;
        match self.after.queued {
            Some(queued) if queued.tick != tick => self.skip(tick, SkipReason::AnotherQueued),
            Some(_) => self.after.queued = Some(QueuedTick { tick, look_at }),
            None => {
                self.after.queued = Some(QueuedTick { tick, look_at });
                self.note(tick, TickOutcome::Queued, |_| {});
            }
        }
    }

    /// Records the work that was started for a tick.
    pub fn started(&mut self, tick: TimestampMs, work: StartedWork) {
        self.after.last_started = Some(work);
        self.settle(tick, TickOutcome::Started, |record| match work {
            StartedWork::Execution(id) => record.execution_id = Some(id),
            StartedWork::Flow(id) => record.flow_id = Some(id),
        });
    }

    /// Records that a singleton key prevented a tick from starting work.
    pub fn singleton_conflict(&mut self, tick: TimestampMs, work: StartedWork) {
        self.settle(tick, TickOutcome::Skipped, |record| {
            record.reason = Some(SkipReason::Singleton);
            if let StartedWork::Execution(id) = work {
                record.execution_id = Some(id);
            }
        });
    }

    /// Records that the work of a tick was refused.
    pub fn refused(&mut self, tick: TimestampMs, why: String) {
        self.settle(tick, TickOutcome::Refused, |record| record.detail = Some(why));
    }

    fn settle(&mut self, tick: TimestampMs, outcome: TickOutcome, with: impl FnOnce(&mut TickRecord)) {
        self.note(tick, outcome, with);
        if self.after.queued.is_some_and(|queued| queued.tick == tick) {
            self.after.queued = None;
        }
        self.ticks.pop_front();
    }

    fn skip(&mut self, tick: TimestampMs, reason: SkipReason) {
        self.note(tick, TickOutcome::Skipped, |record| record.reason = Some(reason));
    }

    fn note(&mut self, tick: TimestampMs, outcome: TickOutcome, with: impl FnOnce(&mut TickRecord)) {
        let mut record = TickRecord {
            tick,
            handled_at: self.now,
            outcome,
            execution_id: None,
            flow_id: None,
            reason: None,
            detail: None,
            triggered: self.is_triggered,
        };
        with(&mut record);
        self.after.note(record.clone());
        self.tick_records.push(record);
    }

    /// Returns the outcomes of ticks in this turn.
    pub fn tick_records(&self) -> &[TickRecord] {
        &self.tick_records
    }

    /// Returns the work whose end a queued tick waits for.
    pub fn awaits(&self) -> Option<StartedWork> {
        self.after.queued.and(self.after.last_started)
    }

    /// Returns the schedule after this turn; `None` when nothing changed.
    pub fn finish(self, before: &Schedule) -> Option<Schedule> {
        (self.after != *before).then(|| self.after.next_version())
    }
}
