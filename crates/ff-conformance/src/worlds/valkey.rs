//! The store on a server or a cluster, which is emptied for every world.

use std::sync::Arc;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};

use super::servers::{Cluster, Process};
use super::{few_partitions, over};
use crate::world::{Hands, World};

/// A store on a server.
pub async fn on_valkey(server: &Process) -> World {
    server.ask(&["FLUSHALL"]);
    at(&server.url()).await
}

/// A store on a cluster.
pub async fn on_cluster(cluster: &Cluster) -> World {
    for node in &cluster.nodes {
        node.ask(&["FLUSHALL"]);
    }
    at(&cluster.url()).await
}

async fn at(url: &str) -> World {
    let hands = Arc::new(Hands::default());
    let options =
        ValkeyOptions { partitions: Some(few_partitions()), clock: Some(hands.clone()), ..ValkeyOptions::default() };
    let store = ValkeyBackend::connect(url, options).await.unwrap();
    over(Arc::new(store), hands, async {})
}
