//! A store on a Postgres server. Each run has its own schema, and reopening the store connects again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_core::backend::EngineStore;
use ff_random_ops::{Options, Subject, SubjectFuture};

use crate::postgres_server::Postgres;

/// Creates a store on a Postgres server, which concurrent runs share.
pub fn postgres(options: Options) -> SubjectFuture {
    with_parameters("", options)
}

/// Creates such a store without the record cache of its writers.
pub fn postgres_without_cache(options: Options) -> SubjectFuture {
    with_parameters("&record_cache=off", options)
}

fn with_parameters(parameters: &'static str, options: Options) -> SubjectFuture {
    static MADE: AtomicU32 = AtomicU32::new(0);
    Box::pin(async move {
        let server = shared_postgres();
        let url = server.url(&format!("run_{}", MADE.fetch_add(1, Ordering::Relaxed))) + parameters;
        let store = open(&url, &options).await;
        Box::new(InDatabase { store, options, url, _server: server }) as Box<dyn Subject>
    })
}

/// Returns the server of all runs. Starts the server if no run uses it.
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
        entropy: options.entropy.clone(),
        clock: Some(options.clock.clone()),
        ..PostgresOptions::default()
    };
    ff_backend_postgres::connect(url, options).await.unwrap()
}

#[async_trait]
impl Subject for InDatabase {
    fn store(&self) -> Option<&dyn EngineStore> {
        Some(&self.store)
    }

    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = open(&self.url, &self.options).await;
    }

    async fn close(self: Box<Self>) {
        self.store.close().await;
    }
}
