//! Recently claimed leases with their start times, used to measure runs and to count each end only once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::types::LeaseId;

use super::activity::Series;

/// Minimum number of remembered leases. The least recently used ones are dropped first.
const KEPT: usize = 32_768;

/// Recent runs.
#[derive(Default)]
pub(super) struct Runs(Mutex<Generations>);

/// Two generations of runs. Dropping the older one needs no order; dropping single runs would need one.
#[derive(Default)]
struct Generations {
    young: HashMap<LeaseId, Run>,
    old: HashMap<LeaseId, Run>,
}

#[derive(Clone)]
enum Run {
    Began(Instant, Option<Arc<Series>>),
    Over,
}

/// The end of a run.
#[derive(Clone, Debug)]
pub(super) enum RunEnd {
    /// The run ends now. Its duration and series are known if this process saw the claim.
    Now(Option<Duration>, Option<Arc<Series>>),
    /// The run had ended before: the worker lost the reply and repeated the call.
    Before,
}

impl Runs {
    pub(super) fn began(&self, lease: LeaseId, of: Option<Arc<Series>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(lease, Run::Began(Instant::now(), of));
    }

    pub(super) fn ended(&self, lease: LeaseId) -> RunEnd {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = generations.young.get(&lease).or_else(|| generations.old.get(&lease)).cloned();
        match known {
            Some(Run::Over) => RunEnd::Before,
            Some(Run::Began(at, of)) => {
                generations.keep(lease, Run::Over);
                RunEnd::Now(Some(at.elapsed()), of)
            }
            None => {
                generations.keep(lease, Run::Over);
                RunEnd::Now(None, None)
            }
        }
    }
}

impl Generations {
    fn keep(&mut self, lease: LeaseId, run: Run) {
        if self.young.len() >= KEPT && !self.young.contains_key(&lease) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(lease, run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_once() {
        let (runs, lease) = (Runs::default(), LeaseId::new());
        runs.began(lease, None);
        assert!(matches!(runs.ended(lease), RunEnd::Now(Some(_), _)));
        assert!(matches!(runs.ended(lease), RunEnd::Before));
        let elsewhere = LeaseId::new();
        assert!(matches!(runs.ended(elsewhere), RunEnd::Now(None, None)));
        assert!(matches!(runs.ended(elsewhere), RunEnd::Before));
    }

    #[test]
    fn a_bounded_number_is_kept_in_mind() {
        let (runs, first) = (Runs::default(), LeaseId::new());
        runs.began(first, None);
        (1..2 * KEPT).for_each(|_| runs.began(LeaseId::new(), None));
        assert!(matches!(runs.ended(first), RunEnd::Now(Some(_), _)), "it is among the older half");
        (0..2 * KEPT).for_each(|_| runs.began(LeaseId::new(), None));
        assert!(matches!(runs.ended(first), RunEnd::Now(None, None)), "it was dropped");
        let generations = runs.0.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * KEPT);
    }
}
