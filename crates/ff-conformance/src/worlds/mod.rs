//! The stores there are, each as a world with few partitions and a clock of its own.

mod http;
mod memory;
mod postgres;
#[path = "../../../ff-backend-postgres/tests/support/mod.rs"]
pub mod postgres_server;
#[path = "../../../ff-backend-valkey/tests/support/mod.rs"]
pub mod servers;
mod sqlite;
mod valkey;

use std::sync::Arc;

use ff_core::backend::EngineStore;
use ff_core::partition::PartitionConfig;
use ff_sdk::FlowFabric;

use crate::world::{Hands, World, WorldClock};

pub use http::{http_over_memory, http_over_sqlite, http_over_valkey};
pub use memory::memory;
pub use postgres::{http_over_postgres, on_postgres};
pub use sqlite::sqlite;
pub use valkey::{on_cluster, on_valkey};

/// Few, so that a whole store is quickly searched, pumped and examined.
fn few_partitions() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 4, ..PartitionConfig::default() }
}

/// A store in this process, reached directly. Nobody but the test fires what is due. `closing` comes last of all.
fn over(store: Arc<dyn EngineStore>, hands: Arc<Hands>, closing: impl Future<Output = ()> + Send + 'static) -> World {
    let flowfabric = FlowFabric::over(store.clone());
    let clock = WorldClock::new(hands, store.clone());
    let world = World::new(flowfabric.backend().clone(), flowfabric.waits().clone(), store, clock);
    world.at_its_end(async move {
        flowfabric.shutdown().await;
        closing.await;
    });
    world
}
