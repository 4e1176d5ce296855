//! The store's time, read off this machine's clock: asking for it each time would cost a round trip.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::types::TimestampMs;

/// How long one look at the store's clock is good for. Clocks drift apart by less than a millisecond meanwhile.
const GOOD_FOR: Duration = Duration::from_secs(10);

/// The store's time when it was last read.
#[derive(Default)]
pub(super) struct StoreClock(Mutex<Option<(Instant, TimestampMs)>>);

impl StoreClock {
    pub(super) fn set(&self, now: TimestampMs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), now));
    }

    /// The store's current time; unknown when the last reading is too old.
    pub(super) fn now(&self) -> Option<TimestampMs> {
        let looked = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (passed, then) = looked.map(|(at, then)| (at.elapsed(), then))?;
        let ms = u64::try_from(passed.as_millis()).ok()?;
        (passed < GOOD_FOR).then_some(then + ms)
    }
}
