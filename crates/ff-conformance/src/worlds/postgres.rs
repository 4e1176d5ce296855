//! The store in a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ff_backend_postgres::{PostgresBackend, PostgresOptions};

use super::http::behind_a_server;
use super::postgres_server::Postgres;
use super::{few_partitions, over};
use crate::world::{Hands, World};

/// A store on a Postgres server, in a schema that is made for it.
pub async fn on_postgres(server: &Postgres) -> World {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let schema = format!("world_{}", MADE.fetch_add(1, Ordering::Relaxed));
    let hands = Arc::new(Hands::default());
    let options = PostgresOptions {
        partitions: Some(few_partitions()),
        clock: Some(hands.clone()),
        ..PostgresOptions::default()
    };
    let store = Arc::new(PostgresBackend::connect(&server.url(&schema), options).await.unwrap());
    over(store.clone(), hands, async move { store.close().await })
}

/// The same, behind a server.
pub async fn http_over_postgres(server: &Postgres) -> World {
    behind_a_server(on_postgres(server).await).await
}
