//! Durations and their percentiles.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// Durations by the name of the call.
#[derive(Default)]
pub(crate) struct Latencies(Mutex<BTreeMap<String, Vec<Duration>>>);

/// Percentiles of durations, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Latencies {
    pub(crate) fn took(&self, name: &str, duration: Duration) {
        let mut by_name = self.by_name();
        match by_name.get_mut(name) {
            Some(durations) => durations.push(duration),
            None => {
                by_name.insert(name.to_owned(), vec![duration]);
            }
        }
    }

    /// Forgets the durations so far, for example after a warm-up.
    pub(crate) fn forget(&self) {
        self.by_name().clear();
    }

    pub(crate) fn percentiles(&self) -> BTreeMap<String, Percentiles> {
        self.by_name().iter().filter_map(|(name, durations)| Some((name.clone(), percentiles(durations)?))).collect()
    }

    fn by_name(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Duration>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the percentiles of durations; `None` without any.
pub(crate) fn percentiles(durations: &[Duration]) -> Option<Percentiles> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    // The smallest duration that `percent` percent of all do not exceed.
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map(|duration| duration.as_secs_f64() * 1_000.0)
    };
    Some(Percentiles { p50: at(50)?, p95: at(95)?, p99: at(99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_what_so_many_of_a_hundred_do_not_exceed() {
        let durations: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(percentiles(&durations), Some(Percentiles { p50: 100.0, p95: 190.0, p99: 198.0 }));
        let one = [Duration::from_millis(7)];
        assert_eq!(percentiles(&one), Some(Percentiles { p50: 7.0, p95: 7.0, p99: 7.0 }));
        assert_eq!(percentiles(&[]), None);
    }
}
