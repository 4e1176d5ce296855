//! Background work on a store: the pump that fires due work, the sweeps that make up for lost hints, the notifier that answers long
//! polls, and the doctor.

mod backoff;
mod doctor;
mod engine;
mod hint_stream;
mod notifier;
mod orchestration;
mod pump;
mod quota_keeper;
mod reap_workers;
mod router;
mod routing;
mod sweep;

pub use backoff::Backoff;
pub use doctor::{Examination, examine, examine_partition};
pub use engine::{Engine, EngineOptions};
pub use hint_stream::HintStream;
pub use notifier::Notifier;
pub use orchestration::{Coordinator, Orchestration, QuotaSettlement, TickedPartition, TickedSchedule};
pub use router::PartitionRouter;
pub use sweep::Sweeper;
