//! System tests: stores compared with the model, many concurrent clients, and real processes that are killed.

#![allow(clippy::unwrap_used, reason = "everything here is a test: panicking is how it fails")]

pub mod concurrency;
#[path = "../../crates/ff-backend-postgres/tests/support/mod.rs"]
pub mod postgres_server;
pub mod processes;
pub mod random_ops;
#[path = "../../crates/ff-backend-valkey/tests/support/mod.rs"]
pub mod servers;

pub use ff_random_ops::{Chance, number};
