//! The scheduler over a store in memory whose time is the runtime's.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod choosing;
mod contention;
mod limits;
mod long_polls;
#[path = "../../../ff-engine/tests/engine/support/mod.rs"]
mod support;
mod trouble;
