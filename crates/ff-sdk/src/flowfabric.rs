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

/// Where the store is.
#[derive(Clone)]
enum StoreLocation {
    Here {
        runtime: Runtime,
        close: Option<Close>,
    },
    #[cfg(feature = "http")]
    AtServer(Arc<HttpBackend>),
}

/// Closes the store at the end.
pub(crate) type Close = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

impl FlowFabric {
    /// A connection to a store in this process, without an engine: another process fires due timers.
    pub fn over(store: Arc<dyn EngineStore>) -> Self {
        Self::assemble(Runtime::without_engine(store), None)
    }

    /// A connection to a server.
    #[cfg(feature = "http")]
    pub fn remote(server: Arc<HttpBackend>) -> Self {
        Self { backend: server.clone(), long_poll: server.clone(), location: StoreLocation::AtServer(server) }
    }

    pub(crate) fn assemble(runtime: Runtime, close: Option<Close>) -> Self {
        let (backend, long_poll) = (runtime.backend().clone(), runtime.long_poll().clone());
        Self { backend, long_poll, location: StoreLocation::Here { runtime, close } }
    }

    /// Hands in work and follows it.
    pub fn client(&self) -> Client {
        Client::new(self.backend.clone(), self.long_poll.clone(), self.key_namespace().cloned())
    }

    /// Does work, under a name of its own.
    pub fn worker(&self, name: &str) -> Worker {
        Worker::new(name, self.backend.clone(), self.long_poll.clone(), self.key_namespace().cloned())
    }

    pub fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.backend
    }

    pub fn long_poll(&self) -> &Arc<dyn LongPoll> {
        &self.long_poll
    }

    /// The runtime of the store in this process, for a server to serve; `None` over HTTP, where the server has it.
    pub fn runtime(&self) -> Option<&Runtime> {
        match &self.location {
            StoreLocation::Here { runtime, .. } => Some(runtime),
            #[cfg(feature = "http")]
            StoreLocation::AtServer(_) => None,
        }
    }

    /// The store as an engine uses it; `None` over HTTP, where the server's engine uses it.
    pub fn engine_store(&self) -> Option<&Arc<dyn EngineStore>> {
        self.runtime().map(Runtime::engine_store)
    }

    /// The base of approval links at the server this is connected to; `None` for a store in this process.
    pub fn public_url(&self) -> Option<&str> {
        match &self.location {
            StoreLocation::Here { .. } => None,
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => Some(&server.connection.public_url),
        }
    }

    /// The namespace of the key a server is shown: whose work everything is about that names no namespace. Nothing for a key of every
    /// namespace, without a key, and for a store in this process.
    pub fn key_namespace(&self) -> Option<&Namespace> {
        match &self.location {
            StoreLocation::Here { .. } => None,
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => server.connection.own.as_ref(),
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
        match &self.location {
            StoreLocation::Here { runtime, .. } => {
                let examined = runtime.examine_partition(partition).await?;
                Ok(DoctorReport::of_partition(examined.executions, examined.findings))
            }
            #[cfg(feature = "http")]
            StoreLocation::AtServer(server) => server.connection.examine_partition(partition).await,
        }
    }

    /// How far the engine is behind with firing due timers; `None` where no engine runs in this process.
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

/// Refuses `default` where it was named and the key is for another namespace. To a key it stands for no namespace being named, so the
/// work would be in the key's own; a server refuses every other namespace by itself.
pub(crate) fn check_named(named: Option<&Namespace>, own: Option<&Namespace>) -> Result<(), Refusal> {
    match (named, own) {
        (Some(named), Some(own)) if named.is_default() && named != own => {
            Err(Refusal::invalid("namespace", format!("the key belongs to {own}, must be {own} or left out")))
        }
        _ => Ok(()),
    }
}
