//! A store behind a server: the same calls, over HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ff_scheduler::Runtime;
use ff_sdk::http::HttpBackend;
use ff_server::Server;
use tokio_util::sync::CancellationToken;

use super::servers::Process;
use super::{memory, on_valkey, sqlite};
use crate::world::World;

/// A server over a store in memory.
pub async fn http_over_memory() -> World {
    behind_a_server(memory().await).await
}

/// A server over a store in a file.
pub async fn http_over_sqlite() -> World {
    behind_a_server(sqlite().await).await
}

/// A server over a store on a Valkey server.
pub async fn http_over_valkey(server: &Process) -> World {
    behind_a_server(on_valkey(server).await).await
}

/// The same store as its callers reach it through a server.
pub(super) async fn behind_a_server(world: World) -> World {
    let runtime = Runtime::without_engine(world.upkeep.clone());
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
