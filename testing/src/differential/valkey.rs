//! The store on a real server. Taking it up again kills the server first and starts it on what its disk has.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::EngineStore;
use ff_core::clock::Clock;
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;

use super::subject::{Making, Options, Subject};
use crate::servers::{Flavour, Process};

/// A store on a Valkey server.
pub fn valkey(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    on(Flavour::Valkey, Options { partitions, clock, dice })
}

/// A store on the oldest Redis that is promised to work.
pub fn redis(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    on(Flavour::Redis, Options { partitions, clock, dice })
}

fn on(flavour: Flavour, options: Options) -> Making {
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
        dice: options.dice.clone(),
        clock: Some(options.clock.clone()),
        ..ValkeyOptions::default()
    };
    ValkeyBackend::connect(&server.url(), options).await.unwrap()
}

#[async_trait]
impl Subject for OnServer {
    fn store(&self) -> &dyn EngineStore {
        &self.store
    }

    async fn reopen(&mut self) {
        self.server.restart();
        self.store = open(&self.server, &self.options).await;
    }

    async fn close(self: Box<Self>) {}
}
