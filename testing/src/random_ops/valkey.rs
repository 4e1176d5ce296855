//! A store on a real Valkey or Redis server. Reopening it first kills the server and restarts it with its files.

use async_trait::async_trait;
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::EngineStore;
use ff_random_ops::{Options, Subject, SubjectFuture};

use crate::servers::{Flavour, Process};

/// Creates a store on a Valkey server.
pub fn valkey(options: Options) -> SubjectFuture {
    on(Flavour::Valkey, options)
}

/// Creates a store on the oldest supported Redis.
pub fn redis(options: Options) -> SubjectFuture {
    on(Flavour::Redis, options)
}

fn on(flavour: Flavour, options: Options) -> SubjectFuture {
    Box::pin(async move {
        let server = Process::start(flavour, &[]);
        let store = open(&server, &options).await;
        Box::new(OnServer { store, options, server }) as Box<dyn Subject>
    })
}

struct OnServer {
    store: ValkeyBackend,
    options: Options,
    server: Process,
}

async fn open(server: &Process, options: &Options) -> ValkeyBackend {
    let options = ValkeyOptions {
        partitions: Some(options.partitions),
        entropy: options.entropy.clone(),
        clock: Some(options.clock.clone()),
        ..ValkeyOptions::default()
    };
    ValkeyBackend::connect(&server.url(), options).await.unwrap()
}

#[async_trait]
impl Subject for OnServer {
    fn store(&self) -> Option<&dyn EngineStore> {
        Some(&self.store)
    }

    async fn reopen(&mut self) {
        self.server.restart();
        self.store = open(&self.server, &self.options).await;
    }
}
