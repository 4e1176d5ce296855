//! Lanes: named queues of a tenant, and how work leaves them.

mod admit;
mod allot;
mod configure;
pub mod contracts;
mod copy;
#[cfg(test)]
pub(crate) mod fixture;
mod record;
mod recount;
mod settle;

pub(crate) use admit::{admit, kept_ms};
pub use record::{Lane, LaneSettings, LaneState, Share};
