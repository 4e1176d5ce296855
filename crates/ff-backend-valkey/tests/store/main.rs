//! Promises of the Valkey store in addition to the promises of every store, on real servers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bytes;
mod capabilities;
mod cluster;
mod coalescing;
mod connection;
mod cost;
mod failover;
mod flow;
mod flushed;
mod forgotten;
mod hints;
mod inner_calls;
mod killed;
mod load;
mod look;
mod out_of_memory;
#[path = "../support/mod.rs"]
mod support;
mod suspension;

use std::time::Duration;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::{Answer, EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, ClaimedExecution, SubmitArgs};
use ff_core::doctor::{Finding, examine};
use ff_core::engine_error::EngineError;
use ff_core::lease::Holder;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Kind};

use crate::support::{Flavour, Process};

/// Few partitions, so that all of them are read quickly.
const FEW_PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 8, num_budget_partitions: 2, num_quota_partitions: 2 };

const LEASE_TTL_MS: u64 = 30_000;

/// Longer than any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn options() -> ValkeyOptions {
    ValkeyOptions { partitions: Some(FEW_PARTITIONS), ..ValkeyOptions::default() }
}

async fn connect(url: &str) -> ValkeyBackend {
    ValkeyBackend::connect(url, options()).await.unwrap_or_else(|error| panic!("{url}: {error}"))
}

/// Starts a server, and connects to it.
async fn start() -> (Process, ValkeyBackend) {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&server.url()).await;
    (server, store)
}

fn work() -> SubmitArgs {
    SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
}

fn claim_on(partition: u16, max: usize) -> ClaimArgs {
    ClaimArgs { max, ..ClaimArgs::new(partition, Holder::parse("w", "w-1").unwrap()) }
}

/// Claims the one execution that waits on the partition of `id`.
async fn claim(store: &ValkeyBackend, id: &ExecutionId) -> ClaimedExecution {
    store.claim(claim_on(id.partition(), 1)).await.unwrap().claimed.remove(0)
}

/// Repeats a call until there is a reply. A call may be repeated when the store is away or the outcome is unknown.
async fn insist<T, Fut: Future<Output = Answer<T>>>(ask: impl Fn() -> Fut) -> T {
    let asking = async {
        loop {
            match ask().await {
                Ok(answer) => return answer,
                Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => tokio::task::yield_now().await,
                Err(error) => panic!("this cannot be repeated: {error:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("an answer comes")
}

/// Returns the doctor's findings on every partition.
async fn findings(store: &ValkeyBackend) -> Vec<Finding> {
    let mut found = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        let snapshot = insist(|| store.snapshot(partition)).await;
        found.extend(examine(&snapshot, partition, store.now().await.unwrap()));
    }
    found
}
