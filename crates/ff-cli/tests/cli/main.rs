//! Tests of the tool as users run it: the real binary, real processes, and a real store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admission;
mod applying;
mod bench;
mod command_line;
mod deciding;
mod doctor;
mod execution;
mod flows;
mod log;
#[path = "../../../ff-backend-postgres/tests/support/mod.rs"]
mod postgres_server;
mod schedules;
mod server;
#[path = "../../../ff-backend-valkey/tests/support/mod.rs"]
mod servers;
mod store;
mod watching;
mod working;
mod world;
