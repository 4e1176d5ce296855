//! Release: a suspension ends, and the execution waits for a worker to continue it.

use super::{CountedSignal, PastSuspension, Suspension, SuspensionEnd};
use crate::change::Change;
use crate::event::{Event, EventKind};
use crate::execution::{DelayReason, Execution, Phase};
use crate::types::TimestampMs;

impl Execution {
    /// Resumes a suspended execution after a delay, with these signals for its worker.
    ///
    /// This also closes its waitpoints, because the suspension to which they belong no longer exists.
    pub(crate) fn release(
        &self,
        suspension: &Suspension,
        ended: SuspensionEnd,
        signals: Vec<CountedSignal>,
        delay_ms: u64,
        now: TimestampMs,
    ) -> Change {
        let phase = match delay_ms {
            0 => self.ready_phase(),
            ms => Phase::Delayed { until: now + ms, why: DelayReason::Resume },
        };
        let mut change = self.enter(phase, now);
        let past = PastSuspension::of(suspension, self.epoch(), ended, signals, now);
        change.events.extend(past.resumed_by().map(|by| Event::new(&self.id, now, EventKind::Released { by })));
        change.after.last_suspension = Some(past);
        change
    }
}
