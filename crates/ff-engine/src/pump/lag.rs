//! The lag of the pump, for metrics and health checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ff_core::types::TimestampMs;

/// Value for "no due work is known".
const NEVER: i64 = i64::MAX;

/// The earliest due time that the pump has not handled yet. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct PumpLag(Arc<AtomicI64>);

impl Default for PumpLag {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(NEVER)))
    }
}

impl PumpLag {
    pub(crate) fn since(&self, moment: Option<TimestampMs>) {
        self.0.store(moment.map_or(NEVER, |at| at.0), Ordering::Relaxed);
    }

    /// Returns how long ago that time passed; zero if it has not passed.
    pub(crate) fn behind(&self, now: TimestampMs) -> Duration {
        let since = self.0.load(Ordering::Relaxed);
        Duration::from_millis(now.0.saturating_sub(since).max(0).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pump_is_behind_by_what_it_has_not_seen_to() {
        let (pump_lag, now) = (PumpLag::default(), TimestampMs(1_000));
        assert_eq!(pump_lag.behind(now), Duration::ZERO);
        pump_lag.since(Some(TimestampMs(1_500)));
        assert_eq!(pump_lag.behind(now), Duration::ZERO);
        pump_lag.since(Some(TimestampMs(400)));
        assert_eq!(pump_lag.behind(now), Duration::from_millis(600));
        pump_lag.since(None);
        assert_eq!(pump_lag.behind(now), Duration::ZERO);
    }
}
