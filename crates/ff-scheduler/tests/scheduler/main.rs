//! The scheduler over a store in memory whose time is the runtime's.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod choosing;
mod contention;
mod limits;
mod long_polls;
#[path = "../../../ff-engine/tests/engine/support/mod.rs"]
mod support;
mod trouble;

use std::sync::Arc;

use ff_core::backend::Answer;
use ff_core::lease::contracts::{ClaimedExecution, NextArgs};
use ff_scheduler::Scheduler;
use support::{WatchedStore, store};
use tokio::task::JoinHandle;

/// An empty store and its scheduler.
fn started(partitions: u16) -> (Arc<WatchedStore>, Arc<Scheduler>) {
    let store = store(partitions);
    (store.clone(), Scheduler::start(store))
}

/// A worker that asks for work and waits for it.
fn waiting(scheduler: &Arc<Scheduler>, args: NextArgs) -> JoinHandle<Answer<Vec<ClaimedExecution>>> {
    let scheduler = scheduler.clone();
    tokio::spawn(async move { scheduler.next(args).await })
}
