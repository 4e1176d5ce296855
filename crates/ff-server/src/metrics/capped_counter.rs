//! Counters by user-defined names, whose number is not bounded.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Maximum number of names with a counter of their own. The rest share one, so that invented names cost neither memory here nor
/// series in Prometheus.
const NAMES: usize = 500;

/// Labels with a common value for all names beyond the limit.
pub(super) trait OverflowLabel: Clone + Debug + Hash + Eq + EncodeLabelSet + Send + Sync + 'static {
    fn other(&self) -> Self;
}

/// A counter for each of a bounded number of names.
pub(super) struct CappedCounter<L: OverflowLabel> {
    family: Family<L, Counter>,
    /// Number of names with a counter of their own. Concurrent additions may exceed the limit by a few.
    names: AtomicUsize,
}

impl<L: OverflowLabel> CappedCounter<L> {
    pub(super) fn registered(registry: &mut Registry, name: &str, help: &str) -> Self {
        let family = Family::default();
        registry.register(name, help, family.clone());
        Self { family, names: AtomicUsize::new(0) }
    }

    pub(super) fn add(&self, labels: &L, n: usize) {
        let known = self.family.get(labels).map(|counter| counter.clone());
        known.unwrap_or_else(|| self.enter(labels)).inc_by(n as u64);
    }

    fn enter(&self, labels: &L) -> Counter {
        if self.names.load(Ordering::Relaxed) >= NAMES {
            return self.family.get_or_create(&labels.other()).clone();
        }
        self.names.fetch_add(1, Ordering::Relaxed);
        self.family.get_or_create(labels).clone()
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{LaneId, Namespace};

    use super::*;
    use crate::metrics::labels::LaneLabel;

    #[test]
    fn names_beyond_the_cap_are_counted_together() {
        let counters = CappedCounter::registered(&mut Registry::default(), "claims", "those");
        for n in 0..NAMES + 3 {
            let lane = LaneLabel::new(&Namespace::default_name(), &LaneId::parse(&format!("lane-{n}")).unwrap());
            counters.add(&lane, 2);
        }
        let first = LaneLabel::new(&Namespace::default_name(), &LaneId::parse("lane-0").unwrap());
        assert_eq!(counters.family.get(&first).unwrap().get(), 2);
        assert_eq!(counters.family.get(&first.other()).unwrap().get(), 6);
    }
}
