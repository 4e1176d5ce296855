//! The stores under test, each as a world with few partitions and its own clock.

mod postgres;
#[path = "../../../ff-backend-postgres/tests/support/mod.rs"]
pub mod postgres_server;
#[path = "../../../ff-backend-valkey/tests/support/mod.rs"]
pub mod servers;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_backend_sqlite::SqliteOptions;
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::EngineStore;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::partition::PartitionConfig;
use ff_scheduler::Runtime;
use ff_sdk::FlowFabric;
use ff_sdk::http::HttpBackend;
use ff_server::Server;
use tokio_util::sync::CancellationToken;

use self::servers::{Cluster, Process};
use crate::world::{TestClock, World, WorldClock};

pub use postgres::{http_over_postgres, on_postgres};

/// Returns a small number of partitions, so that a whole store is quickly searched, pumped and examined.
fn few_partitions() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 4, ..PartitionConfig::default() }
}

/// Creates a world on a store in this process, called directly. Only the test fires due work. `closing` runs last.
fn over(
    store: Arc<dyn EngineStore>,
    clock: Arc<TestClock>,
    closing: impl Future<Output = ()> + Send + 'static,
) -> World {
    let flowfabric = FlowFabric::over(store.clone());
    let clock = WorldClock::new(clock, store.clone());
    let world = World::new(flowfabric.backend().clone(), flowfabric.long_poll().clone(), store, clock);
    world.at_its_end(async move {
        flowfabric.shutdown().await;
        closing.await;
    });
    world
}

/// Creates a world on a store in memory.
pub async fn memory() -> World {
    let clock = Arc::new(TestClock::default());
    let store = MemoryBackend::new(few_partitions(), clock.clone(), Arc::new(SystemEntropy));
    over(Arc::new(store), clock, async {})
}

/// Creates a world on a store in its own file, with the default durability.
pub async fn sqlite() -> World {
    let clock = Arc::new(TestClock::default());
    let folder = tempfile::tempdir().unwrap();
    let options =
        SqliteOptions { partitions: Some(few_partitions()), clock: clock.clone(), ..SqliteOptions::default() };
    let store = Arc::new(ff_backend_sqlite::open(&folder.path().join("flowfabric.db"), options).unwrap());
    over(store.clone(), clock, async move {
        store.close().await;
        drop(folder);
    })
}

/// Creates a world on a Valkey or Redis server, which is emptied first.
pub async fn on_valkey(server: &Process) -> World {
    server.ask(&["FLUSHALL"]);
    at(&server.url()).await
}

/// Creates a world on a cluster, which is emptied first.
pub async fn on_cluster(cluster: &Cluster) -> World {
    for node in &cluster.nodes {
        node.ask(&["FLUSHALL"]);
    }
    at(&cluster.url()).await
}

async fn at(url: &str) -> World {
    let clock = Arc::new(TestClock::default());
    let options =
        ValkeyOptions { partitions: Some(few_partitions()), clock: Some(clock.clone()), ..ValkeyOptions::default() };
    let store = ValkeyBackend::connect(url, options).await.unwrap();
    over(Arc::new(store), clock, async {})
}

/// Creates a world behind a server, over a store in memory.
pub async fn http_over_memory() -> World {
    behind_a_server(memory().await).await
}

/// Creates a world behind a server, over a store in a file.
pub async fn http_over_sqlite() -> World {
    behind_a_server(sqlite().await).await
}

/// Creates a world behind a server, over a store on a Valkey server.
pub async fn http_over_valkey(server: &Process) -> World {
    behind_a_server(on_valkey(server).await).await
}

/// Returns the same store, reached through a server.
pub(super) async fn behind_a_server(world: World) -> World {
    let runtime = Runtime::without_engine(world.engine_store.clone());
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::bind(any_port, runtime.clone()).await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));
    world.at_its_end(async move {
        stop.cancel();
        serving.await.unwrap().unwrap();
        runtime.stop().await;
    });
    let client = Arc::new(HttpBackend::connect(&url).await.unwrap());
    world.reached_through(client.clone(), client)
}
