//! The definition of a schedule.

use serde::{Deserialize, Serialize};

use super::{ScheduleTarget, TickOf, Timing, Zone};
use crate::engine_error::{Refusal, check_range};
use crate::limits;
use crate::state::text_enum;
use crate::types::{Namespace, TimestampMs};

text_enum! {
    /// What happens to a tick while the work of the previous tick has not ended.
    #[derive(Default)]
    Overlap {
        /// It is skipped.
        #[default]
        Skip "skip",
        /// It waits until that work has ended; while one tick waits, further ticks are skipped.
        QueueOne "queue_one",
        /// It starts in parallel.
        Allow "allow",
        /// That work is cancelled, and it starts.
        CancelPrevious "cancel_previous",
    }

    /// Which missed ticks within the catch-up window run.
    #[derive(Default)]
    CatchUp {
        /// Only the last one.
        #[default]
        Last "last",
        /// All of them.
        All "all",
    }
}

/// The times of a schedule's ticks, and the work that each of them starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleDefinition {
    pub timing: Timing,
    /// The time zone of cron expressions.
    pub time_zone: Zone,
    /// Maximum delay added to a tick; always the same for a given tick.
    pub jitter_ms: u64,
    pub starts_at: Option<TimestampMs>,
    /// No tick after this time.
    pub ends_at: Option<TimestampMs>,
    pub overlap: Overlap,
    /// Time after which a late tick no longer starts.
    pub catch_up_ms: u64,
    pub catch_up: CatchUp,
    pub target: ScheduleTarget,
}

impl ScheduleDefinition {
    /// Creates a definition with this timing and target, and defaults for everything else.
    pub fn new(timing: Timing, target: ScheduleTarget) -> Self {
        Self {
            timing,
            time_zone: Zone::default(),
            jitter_ms: 0,
            starts_at: None,
            ends_at: None,
            overlap: Overlap::default(),
            catch_up_ms: limits::CATCH_UP_MS,
            catch_up: CatchUp::default(),
            target,
        }
    }

    /// Returns the definition as a record stores it, without the values that each tick fills in.
    #[must_use]
    pub fn normalized(self, namespace: &Namespace) -> Self {
        Self { target: self.target.normalized(namespace), ..self }
    }

    /// Refuses a definition that no store could accept.
    pub fn check(&self, tick: &TickOf) -> Result<(), Refusal> {
        match self.timing {
            Timing::EveryMs(every_ms) => {
                check_range("every_ms", every_ms, limits::INTERVAL_MIN_MS, limits::SPAN_MAX_MS)?
            }
            Timing::At(at) => moment("at", Some(at))?,
            Timing::Cron(_) => {}
        }
        check_range("jitter_ms", self.jitter_ms, 0, limits::JITTER_MAX_MS)?;
        check_range("catch_up_ms", self.catch_up_ms, limits::CATCH_UP_MIN_MS, limits::SPAN_MAX_MS)?;
        moment("starts_at", self.starts_at)?;
        moment("ends_at", self.ends_at)?;
        if let (Some(starts_at), Some(ends_at)) = (self.starts_at, self.ends_at)
            && ends_at < starts_at
        {
            return Err(Refusal::invalid(
                "ends_at",
                format!("must not be before starts_at, {starts_at}; got {ends_at}"),
            ));
        }
        self.target.check(tick)
    }
}

fn moment(field: &str, at: Option<TimestampMs>) -> Result<(), Refusal> {
    let (last, Some(at)) = (limits::TIMESTAMP_MAX_MS, at) else { return Ok(()) };
    if (0..=last).contains(&at.0) {
        return Ok(());
    }
    Err(Refusal::invalid(field, format!("must be a moment from 0 to {last}, in milliseconds since 1970; got {at}")))
}
