//! A real Postgres for tests, on a free port and with its files in a temporary folder. Dropping it ends the server.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test uses what it needs; libraries pass all of it on"
)]

mod binaries;
#[path = "../../../ff-backend-valkey/tests/support/ports.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "a crate that also starts other servers has it twice; ports kept by one are seen by the other"
)]
mod ports;
mod server;

pub use server::{Disk, Postgres};
