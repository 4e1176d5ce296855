//! A connection: to a store in this process, or to a server.

use std::sync::Arc;
use std::time::Duration;

use ff_api::DoctorReport;
use ff_core::backend::{Answer, EngineBackend, EngineStore, LongPoll};
use ff_core::engine_error::Refusal;
use ff_core::types::{Namespace, TimestampMs};
use ff_scheduler::Runtime;
use futures_util::future::BoxFuture;

#[cfg(feature = "http")]
use crate::http::HttpBackend;
use crate::{Client, Worker};

/// A connection to FlowFabric. Clones share it.
#[derive(Clone)]
pub struct FlowFabric {
    backend: Arc<dyn EngineBackend>,
    long_poll: Arc<dyn LongPoll>,
    location: StoreLocation,
}

/// The location of the store.
#[derive(Clone)]
enum StoreLocation {
    Here {
        runtime: Runtime,
        close: Option<Close>,
    },
    #[cfg(feature = "http")]
    AtServer(Arc<HttpBackend>),
}

/// The function that closes the store on shutdown.
pub(crate) type Close = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

impl FlowFabric {
    /// Creates a connection to a store in this process, without an engine: another process fires due timers.
    pub fn over(store: Arc<dyn EngineStore>) -> Self {
        Self::assemble(Runtime::without_engine(store), None)
    }

    /// Creates a connection to a server.
    #[cfg(feature = "http")]
    pub fn remote(server: Arc<HttpBackend>) -> Self {
        Self { backend: server.clone(), long_poll: server.clone(), location: StoreLocation::AtServer(server) }
    }

    pub(crate) fn assemble(runtime: Runtime, close: Option<Close>) -> Self {
        let (backend, long_poll) = (runtime.backend().clone(), runtime.long_poll().clone());
        Self { backend, long_poll, location: StoreLocation::Here { runtime, close } }
    }

    /// Returns a client, which submits and follows work.
    pub fn client(&self) -> Client {
        Client::new(self.backend.clone(), self.long_poll.clone(), self.key_namespace().cloned())
    }

    /// Returns a worker of this name, to be set up and run.
    pub fn worker(&self, name: &str) -> Worker {
        Worker::new(name, self.backend.clone(), self.long_poll.clone(), self.key_namespace().cloned())
    }

    pub fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.backend
    }

    pub fn long_poll(&self) -> &Arc<dyn LongPoll> {
        &self.long_poll
    }

    /// Returns the runtime of the store in this process, for a server to serve; `None` over HTTP.
    pub fn runtime(&self) -> Option<&Runtime> {
        match &self.location {
            StoreLocation::Here { runtime, .. } => Some(runtime),
            #[cfg(feature = "http")]
            StoreLocation::AtServer(_) => None,
        }
    }

    /// Returns the store with the interface of an engine; `None` over HTTP.
    pub fn engine_store(&self) -> Option<&Arc<dyn EngineStore>> {
        self.runtime().map(Runtime::engine_store)
    }

    /// Returns the base URL of approval links on the server; `None` for a store in this process.
    pub fn public_url(&self) -> Option<&str> {
        match &self.location {
            StoreLocation::Here { .. } => None,
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => Some(&server.connection.public_url),
        }
    }

    /// Returns the namespace of the API key, which applies to every call that names no namespace. It is `None` for a
    /// key of all namespaces, without a key, and for a store in this process.
    pub fn key_namespace(&self) -> Option<&Namespace> {
        match &self.location {
            StoreLocation::Here { .. } => None,
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => server.connection.own.as_ref(),
        }
    }

    /// Checks the invariants of the whole store, and calls `on_partition` after each partition.
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
        match &self.location {
            StoreLocation::Here { runtime, .. } => {
                let examined = runtime.examine_partition(partition).await?;
                Ok(DoctorReport::of_partition(examined.executions, examined.findings))
            }
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => server.connection.examine_partition(partition).await,
        }
    }

    /// Returns how far the engine is behind with due timers; `None` when no engine runs in this process.
    pub fn pump_behind(&self, now: TimestampMs) -> Option<Duration> {
        self.runtime()?.pump_behind(now)
    }

    /// Stops the runtime in this process and closes the store. Calls made afterwards are refused as unavailable.
    pub async fn shutdown(&self) {
        match &self.location {
            StoreLocation::Here { runtime, close } => {
                runtime.stop().await;
                if let Some(close) = close {
                    close().await;
                }
            }
            #[cfg(feature = "http")]
            StoreLocation::AtServer(_) => {}
        }
    }
}

/// Refuses the namespace `default` when it is named explicitly and the API key belongs to another namespace. For such a
/// key `default` means that no namespace is named, so the work would be in the key's own namespace. The server refuses
/// every other foreign namespace.
pub(crate) fn check_named(named: Option<&Namespace>, own: Option<&Namespace>) -> Result<(), Refusal> {
    match (named, own) {
        (Some(named), Some(own)) if named.is_default() && named != own => {
            Err(Refusal::invalid("namespace", format!("the key belongs to {own}, must be {own} or left out")))
        }
        _ => Ok(()),
    }
}
