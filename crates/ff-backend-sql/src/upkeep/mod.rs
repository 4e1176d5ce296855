//! What an engine reads: how a partition stands, and all it holds.

mod flows;
mod snapshot;
mod sweep;
mod waits;

pub use snapshot::TakeSnapshot;
pub use sweep::Sweep;
