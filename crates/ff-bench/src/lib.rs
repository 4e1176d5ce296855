//! Measures a store: the cost of an operation through the SDK, compared with the least cost on the bare store, in one run.

mod floor;
mod job_shape;
mod latency;
mod load;
mod meter;
mod processor;
mod report;
mod scenario;
mod store;

pub use job_shape::JobShape;
pub use latency::Percentiles;
pub use report::{Machine, Report};
pub use scenario::*;

/// Kind of executions whose handler does nothing. Only benchmarks use it.
const KIND: &str = "ff-bench";

/// Returns the median of some figures; `None` without any.
fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut figures = Vec::from_iter(figures);
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}
