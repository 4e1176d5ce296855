//! The store's time, derived from this machine's clock: a call to the store each time would cost a round trip.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::types::TimestampMs;

/// Maximum age of a reading of the store's clock. The two clocks drift apart by less than a millisecond in this time.
const GOOD_FOR: Duration = Duration::from_secs(10);

/// The last reading of the store's clock.
#[derive(Default)]
pub(super) struct StoreClock(Mutex<Option<(Instant, TimestampMs)>>);

impl StoreClock {
    pub(super) fn set(&self, now: TimestampMs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), now));
    }

    /// Returns the store's current time; `None` if the last reading is too old.
    pub(super) fn now(&self) -> Option<TimestampMs> {
        let looked = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (passed, then) = looked.map(|(at, then)| (at.elapsed(), then))?;
        let ms = u64::try_from(passed.as_millis()).ok()?;
        (passed < GOOD_FOR).then_some(then + ms)
    }
}
