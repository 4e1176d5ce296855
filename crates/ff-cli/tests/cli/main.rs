//! Tests of the tool as users run it: the real binary, real processes, and a real store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admission;
mod applying;
mod bench;
mod completions;
mod config;
mod deciding;
mod doctor;
mod durability;
mod flows;
mod help;
mod keys;
mod logging;
mod operations;
mod operator;
mod postgres;
#[path = "../../../ff-backend-postgres/tests/support/mod.rs"]
mod postgres_server;
mod quiet;
mod reading;
mod schedules;
#[path = "../../../ff-backend-valkey/tests/support/mod.rs"]
mod servers;
mod serving;
mod steps;
mod submitting;
mod tls;
mod tracing;
mod valkey;
mod wait;
mod watching;
mod working;
mod world;
