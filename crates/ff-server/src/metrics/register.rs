//! Registration of metrics, and the bounds of histograms.

use std::hash::Hash;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

/// Histogram bounds for short durations, such as calls and requests, in seconds.
const QUICK: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

/// Histogram bounds for long durations, such as runs of executions, in seconds.
const LONG: [f64; 14] = [0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0];

pub(super) type HistogramFamily<L> = Family<L, Histogram, fn() -> Histogram>;

/// Adds a metric to the registry.
pub(super) fn enter<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

/// Creates a histogram of short durations.
pub(super) fn quick() -> Histogram {
    Histogram::new(QUICK)
}

/// Creates a histogram of long durations.
pub(super) fn long() -> Histogram {
    Histogram::new(LONG)
}

pub(super) fn quick_family<L: Clone + Eq + Hash>() -> HistogramFamily<L> {
    Family::new_with_constructor(quick)
}

pub(super) fn long_family<L: Clone + Eq + Hash>() -> HistogramFamily<L> {
    Family::new_with_constructor(long)
}
