//! The engine over a store in memory whose time is the runtime's.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doctor;
mod membership;
mod notifier;
mod published;
mod pump;
mod support;
