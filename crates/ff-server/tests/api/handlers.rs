//! Handlers that wait, with the store behind a server: the same promises as beside it.

use ff_sdk::FlowFabric;
use ff_server::Server;
use tokio_util::sync::{CancellationToken, DropGuard};

#[path = "../../../ff-sdk/tests/sdk/suspension/scenarios/mod.rs"]
mod scenarios;

/// A connection to a server of its own, which stops when its guard is dropped.
pub(crate) async fn remote() -> (FlowFabric, DropGuard) {
    let here = ff_sdk::connect("memory:").await.unwrap();
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), here.runtime().unwrap().clone()).await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let stop = CancellationToken::new();
    tokio::spawn(server.serve(stop.clone()));
    (ff_sdk::connect(&url).await.unwrap(), stop.drop_guard())
}

scenarios::all!(remote().await);
