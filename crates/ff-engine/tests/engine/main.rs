//! Tests of the engine over a store in memory that uses the runtime's clock.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doctor;
mod membership;
mod notifier;
mod published;
mod pump;
mod support;
