//! Workers: the registered instances and their heartbeats.

pub mod contracts;
#[cfg(test)]
pub(crate) mod fixture;
mod heartbeat;
mod leave;
mod record;
mod register;
mod sweep;

pub use record::{Worker, WorkerChange};
