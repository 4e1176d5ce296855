//! The conformance suite: tests that every store must pass, each written once and run on every store.
//!
//! A promise is one such test: a `pub(crate) async fn` of a theme (`src/<domain>/<theme>.rs`) that takes a [`World`], which has a
//! store, the layers between it and the caller, and a clock that the test controls. It may also take an execution that a worker
//! holds ([`World::held`]). `build.rs` lists the promises.
//! `tests/stores/main.rs` says which of them run in which world.

#![allow(clippy::unwrap_used, reason = "everything here is a test: panicking is how it fails")]

mod admission;
mod api_key;
mod budget;
mod event;
mod execution;
mod flow;
mod lane;
mod lease;
mod prelude;
mod quota;
mod records;
mod refused;
mod schedule;
mod signal;
mod step;
mod stream;
mod suite;
mod suspension;
mod token;
mod worker;
mod world;
pub mod worlds;

pub use suite::{ACROSS_PARTITIONS, Scope, check};
pub use token::forging::forge;
pub use world::{
    Contents, Flow, Graph, Lane, LeasedExecution, Submission, TestClock, Waitpoint, Worker, World, WorldClock, ms,
};
