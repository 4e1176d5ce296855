//! One file per scenario: its settings, its work, and its report.

mod budget;
mod chain;
mod claim;
mod fairness;
mod fanout;
mod idle;
mod lifecycle;
mod quorum_cancel;
mod quota;
mod retention;
mod routing;
mod schedules;
mod search;
mod steps;
mod stream;
mod suspend;

pub use budget::BudgetCost;
pub use chain::Chain;
pub use claim::ClaimCost;
pub use fairness::Fairness;
pub use fanout::Fanout;
pub use idle::Idle;
pub use lifecycle::Lifecycle;
pub use quorum_cancel::QuorumCancel;
pub use quota::QuotaCost;
pub use retention::Retention;
pub use routing::Routing;
pub use schedules::ScheduleLateness;
pub use search::SearchCost;
pub use steps::StepCost;
pub use stream::StreamCost;
pub use suspend::SuspendToResume;
