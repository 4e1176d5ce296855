//! A connection: to a store in this process, or to a server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_backend_postgres::PostgresBackend;
use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::{Answer, EngineBackend, Upkeep, Waits};
use ff_core::types::TimestampMs;
use ff_engine::Engine;

use crate::http::HttpBackend;
use crate::http::wire::DoctorReport;
use crate::{Client, Local, Worker};

/// A connection to FlowFabric. Clones share it.
#[derive(Clone)]
pub struct FlowFabric {
    backend: Arc<dyn EngineBackend>,
    waits: Arc<dyn Waits>,
    place: Place,
}

/// Where the store is.
#[derive(Clone)]
enum Place {
    Here(Arc<Here>),
    AtServer(Arc<HttpBackend>),
}

/// What runs in this process when the store does.
struct Here {
    upkeep: Arc<dyn Upkeep>,
    local: Arc<Local>,
    engine: Mutex<Option<Engine>>,
    closing: Closing,
}

/// What is to be let go of in an orderly way at the end.
pub(crate) enum Closing {
    Nothing,
    File(Arc<SqliteBackend>),
    Database(Arc<PostgresBackend>),
}

impl FlowFabric {
    /// A connection to a store in this process, without an engine: somebody else fires what is due.
    pub fn over(store: Arc<dyn Upkeep>) -> Self {
        Self::assemble(store, Closing::Nothing, false)
    }

    /// A connection to a server.
    pub fn remote(server: Arc<HttpBackend>) -> Self {
        Self { backend: server.clone(), waits: server.clone(), place: Place::AtServer(server) }
    }

    pub(crate) fn assemble(store: Arc<dyn Upkeep>, closing: Closing, engine: bool) -> Self {
        let local = Arc::new(Local::start(&store));
        let engine = engine.then(|| Engine::start(store.clone()));
        let backend: Arc<dyn EngineBackend> = store.clone();
        let waits: Arc<dyn Waits> = local.clone();
        let here = Here { upkeep: store, local, engine: Mutex::new(engine), closing };
        Self { backend, waits, place: Place::Here(Arc::new(here)) }
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
        self.here().map(|here| &here.upkeep)
    }

    /// What approval links begin with at the server this is connected to; nothing for a store in this process.
    pub fn public_url(&self) -> Option<&str> {
        match &self.place {
            Place::Here(_) => None,
            Place::AtServer(server) => Some(&server.public_url),
        }
    }

    /// Checks the invariants over everything the store holds, telling of each partition as it is through.
    pub async fn examine(&self, mut on_partition: impl FnMut(u16)) -> Answer<DoctorReport> {
        let mut report = DoctorReport::default();
        for partition in 0..self.backend.partitions().num_flow_partitions {
            report.add(self.examine_partition(partition).await?);
            on_partition(partition);
        }
        Ok(report)
    }

    /// Checks the invariants on one partition.
    pub async fn examine_partition(&self, partition: u16) -> Answer<DoctorReport> {
        match &self.place {
            Place::Here(here) => Ok(ff_engine::examine_partition(&*here.upkeep, partition).await?.into()),
            Place::AtServer(server) => server.examine_partition(partition).await,
        }
    }

    /// How long what is due has been due without being seen to; nothing is known where no engine runs in this process.
    pub fn pump_behind(&self, now: TimestampMs) -> Option<Duration> {
        let engine = self.here()?.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.as_ref().map(|engine| engine.behind(now))
    }

    /// Answers whoever waits for work, for news or for an end, so that a server can stop without keeping them.
    pub fn release_waiters(&self) {
        if let Some(here) = self.here() {
            here.local.stop();
        }
    }

    /// Stops what runs in this process and closes the store. Calls made afterwards are refused as unavailable.
    pub async fn shutdown(&self) {
        let Some(here) = self.here() else { return };
        here.local.end().await;
        let engine = here.engine.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(engine) = engine {
            engine.stop().await;
        }
        match &here.closing {
            Closing::Nothing => {}
            Closing::File(file) => file.close().await,
            Closing::Database(database) => database.close().await,
        }
    }

    fn here(&self) -> Option<&Here> {
        match &self.place {
            Place::Here(here) => Some(here),
            Place::AtServer(_) => None,
        }
    }
}
