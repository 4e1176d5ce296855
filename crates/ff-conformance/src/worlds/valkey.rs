//! The store on a server of its own.

use std::sync::Arc;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};

use super::servers::{Cluster, Flavour, Process};
use super::{few_partitions, over};
use crate::world::{Hands, World};

/// A store on a Valkey server.
pub async fn valkey() -> World {
    on(Flavour::Valkey).await
}

/// A store on the oldest Redis that is promised to work.
pub async fn redis() -> World {
    on(Flavour::Redis).await
}

/// A store on a cluster, which is emptied for it: of keys, and of functions that remember later times than a new world has.
pub async fn on_cluster(cluster: &Cluster) -> World {
    for node in &cluster.nodes {
        node.ask(&["FLUSHALL"]);
        node.ask(&["FUNCTION", "FLUSH", "SYNC"]);
    }
    at(&cluster.url(), async {}).await
}

async fn on(flavour: Flavour) -> World {
    let server = Process::start(flavour, &[]);
    at(&server.url(), async move { drop(server) }).await
}

async fn at(url: &str, closing: impl Future<Output = ()> + Send + 'static) -> World {
    let hands = Arc::new(Hands::default());
    let options =
        ValkeyOptions { partitions: Some(few_partitions()), clock: Some(hands.clone()), ..ValkeyOptions::default() };
    let store = ValkeyBackend::connect(url, options).await.unwrap();
    over(Arc::new(store), hands, closing)
}
