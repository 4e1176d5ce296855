//! Handlers that wait, with a store behind a server: the same guarantees as with a store in the process.

use ff_sdk::FlowFabric;
use ff_server::Server;
use tokio_util::sync::{CancellationToken, DropGuard};

#[path = "../../../../ff-sdk/tests/sdk/suspension/scenarios/mod.rs"]
mod scenarios;

/// Starts a server and connects to it. The server stops when its guard is dropped.
pub(crate) async fn remote() -> (FlowFabric, DropGuard) {
    let here = ff_sdk::connect("memory:").await.unwrap();
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), here.runtime().unwrap().clone()).await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let stop = CancellationToken::new();
    tokio::spawn(server.serve(stop.clone()));
    (ff_sdk::connect(&url).await.unwrap(), stop.drop_guard())
}

scenarios::all!(remote().await);
