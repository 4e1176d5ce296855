//! Proof beyond single promises: random walks compared with the model, many clients at once, real processes killed.

#![allow(clippy::unwrap_used, reason = "everything here is a test: panicking is how it fails")]

mod chance;
pub mod concurrency;
pub mod differential;
mod environment;
#[path = "../../crates/ff-backend-postgres/tests/support/mod.rs"]
pub mod postgres_server;
pub mod processes;
#[path = "../../crates/ff-backend-valkey/tests/support/mod.rs"]
pub mod servers;

pub use chance::Chance;
pub use environment::number;
