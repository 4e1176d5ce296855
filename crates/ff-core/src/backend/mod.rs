//! What a store is to the rest of the system: one small trait per room for what callers may ask, one for asking and
//! waiting, one for what only an engine asks.

mod bulk;
mod event;
mod execution;
mod flow;
mod key;
mod lane;
mod lease;
mod signal;
mod suspension;
mod upkeep;
mod waits;
mod worker;

use crate::engine_error::EngineError;
use crate::partition::PartitionConfig;

pub use bulk::act_on_page;
pub use event::EventRoom;
pub use execution::ExecutionRoom;
pub use flow::FlowRoom;
pub use key::KeyRoom;
pub use lane::{LaneRoom, LaneSteps};
pub use lease::LeaseRoom;
pub use signal::SignalRoom;
pub use suspension::SuspensionRoom;
pub use upkeep::{Ready, Swept, Upkeep};
pub use waits::Waits;
pub use worker::WorkerRoom;

/// An answer, or why there is none.
pub type Answer<T> = Result<T, EngineError>;

/// Everything callers may ask of a store: the sum of its rooms. A store has all of it; a method that may be unavailable
/// would be a promise nobody can build on.
pub trait EngineBackend:
    ExecutionRoom
    + LeaseRoom
    + LaneRoom
    + WorkerRoom
    + SuspensionRoom
    + SignalRoom
    + FlowRoom
    + EventRoom
    + KeyRoom
    + Send
    + Sync
{
    /// How many partitions the store was made with.
    fn partitions(&self) -> PartitionConfig;
}
