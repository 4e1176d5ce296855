//! A connection: to a store in this process, or to a server.

use std::sync::{Arc, Mutex, PoisonError};

use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::{EngineBackend, Upkeep, Waits};
use ff_engine::Engine;

use crate::http::HttpBackend;
use crate::{Client, Local, Worker};

/// A connection to FlowFabric. Clones share it.
#[derive(Clone)]
pub struct FlowFabric {
    backend: Arc<dyn EngineBackend>,
    waits: Arc<dyn Waits>,
    here: Option<Arc<Here>>,
}

/// What runs in this process when the store does.
struct Here {
    upkeep: Arc<dyn Upkeep>,
    local: Arc<Local>,
    engine: Mutex<Option<Engine>>,
    /// A store that is a file must be let go of in an orderly way.
    file: Option<Arc<SqliteBackend>>,
}

impl FlowFabric {
    /// A connection to a store in this process, without an engine: somebody else fires what is due.
    pub fn over(store: Arc<dyn Upkeep>) -> Self {
        Self::assemble(store, None, false)
    }

    /// A connection to a server.
    pub fn remote(server: Arc<HttpBackend>) -> Self {
        Self { backend: server.clone(), waits: server, here: None }
    }

    pub(crate) fn assemble(store: Arc<dyn Upkeep>, file: Option<Arc<SqliteBackend>>, engine: bool) -> Self {
        let local = Arc::new(Local::start(&store));
        let engine = engine.then(|| Engine::start(store.clone()));
        let backend: Arc<dyn EngineBackend> = store.clone();
        let waits: Arc<dyn Waits> = local.clone();
        let here = Here { upkeep: store, local, engine: Mutex::new(engine), file };
        Self { backend, waits, here: Some(Arc::new(here)) }
    }

    /// Hands in work and follows it.
    pub fn client(&self) -> Client {
        Client::new(self.backend.clone(), self.waits.clone())
    }

    /// Does work, under a name of its own.
    pub fn worker(&self, name: &str) -> Worker {
        Worker::new(name, self.backend.clone(), self.waits.clone())
    }

    pub fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.backend
    }

    pub fn waits(&self) -> &Arc<dyn Waits> {
        &self.waits
    }

    /// What an engine asks of the store; absent over HTTP, where the server's engine does.
    pub fn upkeep(&self) -> Option<&Arc<dyn Upkeep>> {
        self.here.as_deref().map(|here| &here.upkeep)
    }

    /// Answers whoever waits for work, for news or for an end, so that a server can stop without keeping them.
    pub fn release_waiters(&self) {
        if let Some(here) = &self.here {
            here.local.stop();
        }
    }

    /// Stops what runs in this process and closes the store. Calls made afterwards are refused as unavailable.
    pub async fn shutdown(&self) {
        let Some(here) = &self.here else { return };
        here.local.stop();
        let engine = here.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(engine) = engine {
            engine.stop().await;
        }
        if let Some(file) = &here.file {
            file.close().await;
        }
    }
}
