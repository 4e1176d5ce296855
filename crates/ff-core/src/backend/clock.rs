//! Clocks for stores without a clock of their own. Rules take `now` and never read a clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::types::TimestampMs;

/// The clock of a store.
pub trait Clock: Send + Sync {
    fn now(&self) -> TimestampMs;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is where an embedded store's time comes from")]
    fn now(&self) -> TimestampMs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock for tests that moves only when it is advanced.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(now: TimestampMs) -> Self {
        Self(AtomicI64::new(now.0))
    }

    pub fn advance(&self, ms: u64) {
        self.0.fetch_add(i64::try_from(ms).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.0.load(Ordering::SeqCst))
    }
}

/// A clock that never runs backwards, even if the clock source does.
pub struct MonotonicClock {
    source: std::sync::Arc<dyn Clock>,
    highest: AtomicI64,
}

impl MonotonicClock {
    /// Creates a clock that starts no earlier than `earliest`, the latest time that the store has written.
    pub fn new(source: std::sync::Arc<dyn Clock>, earliest: TimestampMs) -> Self {
        Self { source, highest: AtomicI64::new(earliest.0) }
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> TimestampMs {
        let now = self.source.now().0;
        TimestampMs(self.highest.fetch_max(now, Ordering::SeqCst).max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn time_does_not_run_backwards() {
        let source = Arc::new(ManualClock::at(TimestampMs(100)));
        let clock = MonotonicClock::new(source.clone(), TimestampMs(150));
        assert_eq!(clock.now(), TimestampMs(150));
        source.advance(100);
        assert_eq!(clock.now(), TimestampMs(200));
    }
}
