//! The store in a database: each walk in a schema of its own. Taking it up again connects anew.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_core::backend::EngineStore;
use ff_core::clock::Clock;
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;

use super::subject::{Making, Options, Subject};
use crate::postgres_server::Postgres;

/// A store on a Postgres server, which walks share for as long as somebody holds it.
pub fn postgres(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    static MADE: AtomicU32 = AtomicU32::new(0);
    Box::pin(async move {
        let server = shared_postgres();
        let options = Options { partitions, clock, dice };
        let url = server.url(&format!("walk_{}", MADE.fetch_add(1, Ordering::Relaxed)));
        let store = open(&url, &options).await;
        Box::new(InDatabase { store, options, url, _server: server }) as Box<dyn Subject>
    })
}

/// The server of all walks, started when nobody holds it yet.
pub fn shared_postgres() -> Arc<Postgres> {
    static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Postgres::quick());
        *shared = Arc::downgrade(&server);
        server
    })
}

struct InDatabase {
    store: PostgresBackend,
    options: Options,
    url: String,
    _server: Arc<Postgres>,
}

async fn open(url: &str, options: &Options) -> PostgresBackend {
    let options = PostgresOptions {
        partitions: Some(options.partitions),
        dice: options.dice.clone(),
        clock: Some(options.clock.clone()),
        ..PostgresOptions::default()
    };
    ff_backend_postgres::connect(url, options).await.unwrap()
}

#[async_trait]
impl Subject for InDatabase {
    fn store(&self) -> &dyn EngineStore {
        &self.store
    }

    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = open(&self.url, &self.options).await;
    }

    async fn close(self: Box<Self>) {
        self.store.close().await;
    }
}
