//! Log lines about outages of a store: at the start, then at most every ten seconds, and when the store answers again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine_error::EngineError;

/// The shortest interval between two log lines about an outage.
const INTERVAL: Duration = Duration::from_secs(10);

/// An answer within this time after a failure does not end an outage: a store that goes away may still answer on some
/// connections while others already fail.
const SETTLED: Duration = Duration::from_millis(200);

/// The log of one store's outages. All loops that call the store share it, so that one outage is logged once,
/// regardless of the number of loops and requests that fail.
#[derive(Debug, Default)]
pub struct OutageLog {
    /// Whether an outage is open. Read first, because nearly every call succeeds.
    is_open: AtomicBool,
    outage: Mutex<Outage>,
}

impl OutageLog {
    /// Logs the failure of a call about a partition. If the store did not answer, an
    /// outage is open until the partition answers.
    pub fn failed(&self, call: &'static str, partition: u16, error: &EngineError) {
        if !is_away(error) {
            tracing::warn!(call, partition, %error, "the store failed");
            return;
        }
        let mut outage = self.outage();
        let failures = outage.failed(Some(partition), Instant::now());
        self.is_open.store(true, Ordering::Relaxed);
        drop(outage);
        log_outage(call, error, failures);
    }

    /// Logs the failure of another call. It opens no outage, because the store may refuse this call and still answer others.
    pub fn log_failure(&self, call: &'static str, error: &EngineError) {
        if is_away(error) {
            let failures = self.outage().failed(None, Instant::now());
            log_outage(call, error, failures);
        } else {
            tracing::warn!(call, %error, "the store failed");
        }
    }

    /// Records that the store answered a call about a partition. Logs the end of the outage if no partition fails any more.
    pub fn answered(&self, partition: u16) {
        if !self.is_open.load(Ordering::Relaxed) {
            return;
        }
        let mut outage = self.outage();
        let ended = outage.answered(partition, Instant::now());
        self.is_open.store(outage.since.is_some(), Ordering::Relaxed);
        if let Some(lasted) = ended {
            tracing::info!(away_ms = u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX), "the store answers again");
        }
    }

    fn outage(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the store, or the part of the store that was called, did not answer.
pub fn is_away(error: &EngineError) -> bool {
    matches!(error, EngineError::Unavailable(_) | EngineError::Unknown(_))
}

fn log_outage(call: &'static str, error: &EngineError, failures: Option<u64>) {
    match failures {
        Some(failures) => tracing::warn!(call, %error, failures, "the store does not answer"),
        None => tracing::debug!(call, %error, "the store does not answer"),
    }
}

/// One outage, and the time at which it was last logged.
#[derive(Debug, Default)]
struct Outage {
    since: Option<Instant>,
    /// Failing partitions, each with the time of its last failure.
    failing: BTreeMap<u16, Instant>,
    logged_at: Option<Instant>,
    /// Whether the outage was logged, so that its end must be logged too.
    is_logged: bool,
    /// Failures since the last log line.
    unlogged: u64,
}

impl Outage {
    /// Counts a failure. If a log line is due, returns the number of failures since the previous line.
    fn failed(&mut self, partition: Option<u16>, now: Instant) -> Option<u64> {
        if let Some(partition) = partition {
            self.failing.insert(partition, now);
            self.since.get_or_insert(now);
        }
        self.unlogged += 1;
        if self.logged_at.is_some_and(|at| now.duration_since(at) < INTERVAL) {
            return None;
        }
        (self.logged_at, self.is_logged) = (Some(now), true);
        Some(std::mem::take(&mut self.unlogged))
    }

    /// Ends the outage when no partition fails any more. Returns its duration if the end must be logged.
    fn answered(&mut self, partition: u16, now: Instant) -> Option<Duration> {
        if self.failing.get(&partition).is_some_and(|failed| now.duration_since(*failed) >= SETTLED) {
            self.failing.remove(&partition);
        }
        if !self.failing.is_empty() {
            return None;
        }
        let since = self.since.take()?;
        self.unlogged = 0;
        std::mem::take(&mut self.is_logged).then(|| now.duration_since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn an_outage_is_logged_at_once_every_ten_seconds_and_at_its_end() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        let failures = (0..210).map(|tenth| outage.failed(Some(tenth % 7), after(start, u64::from(tenth) * 100)));
        let lines: Vec<_> = failures.enumerate().filter_map(|(nth, line)| Some((nth, line?))).collect();
        assert_eq!(lines, [(0, 1), (100, 100), (200, 100)]);
        let ends: Vec<_> = (0..7).map(|partition| outage.answered(partition, after(start, 21_500))).collect();
        assert_eq!(ends[..6], [None; 6]);
        assert_eq!(ends[6], Some(Duration::from_millis(21_500)));
        assert_eq!(outage.answered(3, after(start, 21_600)), None);
    }

    #[test]
    fn a_part_that_stays_away_holds_the_outage_open() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        outage.failed(Some(1), start);
        for ms in 0..100 {
            assert_eq!(outage.answered(2, after(start, ms)), None);
        }
        assert_eq!(outage.answered(1, after(start, 500)), Some(Duration::from_millis(500)));
    }

    #[test]
    fn an_answer_right_after_a_failure_does_not_end_the_outage() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        assert_eq!(outage.failed(Some(1), start), Some(1));
        assert_eq!(outage.answered(1, after(start, 199)), None);
        assert_eq!(outage.failed(Some(1), after(start, 200)), None);
        assert_eq!(outage.answered(1, after(start, 399)), None);
        assert_eq!(outage.answered(1, after(start, 400)), Some(Duration::from_millis(400)));
    }

    #[test]
    fn outages_that_follow_each_other_are_logged_no_more_often() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        let mut lines = 0;
        for ms in (0..30_000).step_by(500) {
            lines += usize::from(outage.failed(Some(1), after(start, ms)).is_some());
            lines += usize::from(outage.answered(1, after(start, ms + 250)).is_some());
        }
        assert_eq!(lines, 6);
    }

    #[test]
    fn a_call_that_is_only_noted_opens_no_outage() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        assert_eq!(outage.failed(None, start), Some(1));
        assert_eq!(outage.answered(1, start), None);
        assert_eq!(outage.failed(None, after(start, 9_999)), None);
        assert_eq!(outage.failed(None, after(start, 10_000)), Some(2));
    }
}
