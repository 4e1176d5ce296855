//! Promises of the library: its files, its signatures, its codes, and every refusal on a real server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flow;
mod grant;
mod header;
mod keys;
mod loading;
mod malformed;
mod operator;
mod policies;
mod refusals;
mod refused;
#[path = "../../../ff-backend-valkey/tests/support/mod.rs"]
mod servers;
mod singleton;
mod situation;
mod step;
mod stream;
mod suspension;
mod wire;
