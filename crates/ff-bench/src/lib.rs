//! Measures a store: the cost of an operation through the SDK, compared with the least cost on the bare store, in one run.

mod budget;
mod chain;
mod claim;
mod fairness;
mod fanout;
mod floor;
mod idle;
mod job_shape;
mod latency;
mod lifecycle;
mod load;
mod meter;
mod processor;
mod quorum_cancel;
mod quota;
mod report;
mod retention;
mod routing;
mod schedules;
mod search;
mod steps;
mod store;
mod stream;
mod suspend;

pub use budget::BudgetCost;
pub use chain::Chain;
pub use claim::ClaimCost;
pub use fairness::Fairness;
pub use fanout::Fanout;
pub use idle::Idle;
pub use job_shape::JobShape;
pub use latency::Percentiles;
pub use lifecycle::Lifecycle;
pub use quorum_cancel::QuorumCancel;
pub use quota::QuotaCost;
pub use report::Machine;
pub use report::Report;
pub use retention::Retention;
pub use routing::Routing;
pub use schedules::ScheduleLateness;
pub use search::SearchCost;
pub use steps::StepCost;
pub use store::NotAStore;
pub use stream::StreamCost;
pub use suspend::SuspendToResume;

/// Kind of executions whose handler does nothing. Only benchmarks use it.
const KIND: &str = "ff-bench";

/// Returns the median of some figures; `None` without any.
fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}
