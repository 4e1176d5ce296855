//! The store on a real server. Opening it again kills the server first and starts it again on its files.

use async_trait::async_trait;
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::EngineStore;
use ff_random_ops::{MakingSubject, Options, Subject};

use crate::servers::{Flavour, Process};

/// A store on a Valkey server.
pub fn valkey(options: Options) -> MakingSubject {
    on(Flavour::Valkey, options)
}

/// A store on the oldest Redis that is promised to work.
pub fn redis(options: Options) -> MakingSubject {
    on(Flavour::Redis, options)
}

fn on(flavour: Flavour, options: Options) -> MakingSubject {
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
