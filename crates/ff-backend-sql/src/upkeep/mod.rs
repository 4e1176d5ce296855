//! What an engine reads: how a partition stands, and all it holds.

mod flows;
mod operating;
mod snapshot;
mod sweep;
mod waits;

pub(crate) use sweep::ready_on;
