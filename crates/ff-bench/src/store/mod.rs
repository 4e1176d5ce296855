//! The measured store: opened as a user's program opens it, with a meter between it and the SDK, and with direct access to the bare
//! store.

mod postgres;
mod sqlite;
mod valkey;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use ff_core::backend::{EngineStore, Perform};
use ff_engine::Engine;
use ff_sdk::http::{HttpBackend, HttpOptions};
use ff_sdk::store_url::without_password;
use ff_sdk::{FlowFabric, Reply, Target, Worker};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::KIND;
use crate::floor::{PostgresFloor, SqliteFloor, ValkeyFloor};
use crate::meter::{Meter, MeteredStore};
use crate::report::Report;

pub(super) use postgres::Database;
pub(super) use sqlite::File;
pub(super) use valkey::Servers;

/// A store that is being measured.
pub(super) struct Subject {
    /// The URL of the store or server, without a password.
    url: String,
    pub(super) flowfabric: FlowFabric,
    pub(super) meter: Arc<Meter>,
    pub(super) bare: BareStore,
    /// Absent when the subject is a server.
    engine: Option<Engine>,
}

/// Direct access to a store, without FlowFabric.
pub(super) enum BareStore {
    /// There is no bare store.
    Memory,
    Sqlite(File),
    Postgres(Box<Database>),
    Valkey(Servers),
    /// A server hides the store.
    Server,
}

/// Cumulative work of a store, and its size. Unknown values stay zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoreUsage {
    pub(super) bytes: u64,
    /// Transactions committed.
    pub(super) commits: u64,
    /// Functions called.
    pub(super) calls: u64,
    /// Commands called within functions.
    pub(super) inner_calls: u64,
    /// Microseconds of processor time of the server, or of its backends.
    pub(super) busy_us: u64,
    /// Microseconds spent in functions.
    pub(super) function_us: u64,
}

impl StoreUsage {
    /// Returns the difference from an earlier reading; 0 bytes if the store has shrunk.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(before.bytes),
            commits: self.commits - before.commits,
            calls: self.calls - before.calls,
            inner_calls: self.inner_calls - before.inner_calls,
            busy_us: self.busy_us - before.busy_us,
            function_us: self.function_us - before.function_us,
        }
    }
}

impl Subject {
    /// Opens a store and starts its engine, or connects to a server.
    pub(super) async fn reach(url: &str) -> anyhow::Result<Self> {
        if Target::parse(url)? != Target::Http {
            return Self::open(url).await;
        }
        let meter = Arc::new(Meter::default());
        let options = HttpOptions::default().or_from_environment().map_err(anyhow::Error::msg)?;
        let metered = |inner| Arc::new(MeteredStore { inner, meter: meter.clone() }) as Arc<dyn Perform>;
        let server = HttpBackend::connect_with(url, options).await?.through(metered);
        let flowfabric = FlowFabric::remote(Arc::new(server));
        Ok(Self { url: without_password(url), flowfabric, meter, bare: BareStore::Server, engine: None })
    }

    /// Opens a store and starts its engine.
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let (store, bare): (Arc<dyn EngineStore>, _) = match Target::parse(url)? {
            Target::Memory => (Arc::new(ff_backend_memory::MemoryBackend::default()), BareStore::Memory),
            Target::Sqlite { path, synchronous } => {
                let (store, file) = File::open(&path, synchronous.into())?;
                (store, BareStore::Sqlite(file))
            }
            Target::Postgres => {
                let (store, database) = Database::connect(url).await?;
                (store, BareStore::Postgres(Box::new(database)))
            }
            Target::Valkey => {
                let (store, servers) = Servers::connect(url).await?;
                (store, BareStore::Valkey(servers))
            }
            Target::Http => bail!("a server cannot be measured against its store; measure the store"),
        };
        let meter = Arc::new(Meter::default());
        let metered = Arc::new(MeteredStore { inner: store, meter: meter.clone() });
        let engine = Engine::start(metered.clone());
        let flowfabric = FlowFabric::over(metered);
        Ok(Self { url: without_password(url), flowfabric, meter, bare, engine: Some(engine) })
    }

    /// Starts a worker that runs `at_once` no-op executions at a time, until it is stopped.
    pub(super) fn work(&self, at_once: usize) -> NoopWorker {
        self.work_with(at_once, Reply::done())
    }

    /// Like [`Self::work`], with a reply.
    pub(super) fn work_with(&self, at_once: usize, reply: Reply) -> NoopWorker {
        let (started, starts) = tokio::sync::mpsc::unbounded_channel();
        let worker = self.flowfabric.worker("bench").concurrency(at_once).on(KIND, move |_| {
            // Fails when the receiver is gone.
            started.send(Instant::now()).ok();
            let reply = reply.clone();
            async { Ok(reply) }
        });
        NoopWorker { running: self.run(worker), starts }
    }

    /// Starts a worker, which runs until it is stopped.
    pub(super) fn run(&self, worker: Worker) -> WorkerTask {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        WorkerTask { stop, task: tokio::spawn(worker.run_until(async move { stopped.cancelled().await })) }
    }

    pub(super) async fn reading(&mut self) -> anyhow::Result<StoreUsage> {
        match &mut self.bare {
            BareStore::Memory | BareStore::Server => Ok(StoreUsage::default()),
            BareStore::Sqlite(file) => file.reading(),
            BareStore::Postgres(database) => database.reading().await,
            BareStore::Valkey(servers) => servers.reading().await,
        }
    }

    /// Returns a report with the kind and durability of the store, and without figures.
    pub(super) async fn report(&mut self, scenario: &'static str) -> anyhow::Result<Report> {
        let mut settings = match &mut self.bare {
            BareStore::Memory => BTreeMap::from([("server", Value::from("memory"))]),
            BareStore::Server => BTreeMap::from([("server", Value::from("FlowFabric, over HTTP"))]),
            BareStore::Sqlite(file) => file.settings(),
            BareStore::Postgres(database) => database.settings().await?,
            BareStore::Valkey(servers) => servers.settings().await?,
        };
        settings.insert("flowfabric", env!("CARGO_PKG_VERSION").into());
        settings.insert("partitions", self.flowfabric.backend().partitions().num_flow_partitions.into());
        Ok(Report::new(scenario, self.url.clone(), settings))
    }

    /// Runs the same lifecycles on the bare store, and returns their time; `None` without a bare store.
    pub(super) async fn floor(&mut self, load: &FloorLoad) -> anyhow::Result<Option<Duration>> {
        match &mut self.bare {
            BareStore::Memory | BareStore::Server => Ok(None),
            BareStore::Sqlite(file) => {
                let (load, beside, durability) = (load.clone(), file.beside(), file.durability());
                let floor = move || SqliteFloor::make(&beside, durability)?.run(&load);
                Ok(Some(tokio::task::spawn_blocking(floor).await.context("the floor broke off")??))
            }
            BareStore::Postgres(database) => Ok(Some(PostgresFloor::over(database).run(load).await?)),
            BareStore::Valkey(servers) => Ok(Some(ValkeyFloor::over(servers).run(load).await?)),
        }
    }

    /// Stops the SDK and the engine, and closes the store.
    pub(super) async fn close(self) {
        self.flowfabric.shutdown().await;
        if let Some(engine) = self.engine {
            engine.stop().await;
        }
        match self.bare {
            BareStore::Sqlite(file) => file.close().await,
            BareStore::Postgres(database) => database.close().await,
            BareStore::Memory | BareStore::Valkey(_) | BareStore::Server => {}
        }
    }
}

/// Load for the bare store.
#[derive(Clone, Debug)]
pub(super) struct FloorLoad {
    pub(super) count: usize,
    pub(super) payload: Vec<u8>,
    /// Number of concurrent callers, where the store has callers.
    pub(super) workers: usize,
    /// Number of steps in one transaction, where the store has transactions.
    pub(super) batch: usize,
}

/// A running worker whose handlers do nothing.
pub(super) struct NoopWorker {
    running: WorkerTask,
    /// The time at which each handler began.
    pub(super) starts: tokio::sync::mpsc::UnboundedReceiver<Instant>,
}

impl NoopWorker {
    /// Drops the recorded starts so far.
    pub(super) fn forget_starts(&mut self) {
        while self.starts.try_recv().is_ok() {}
    }

    /// Stops the worker after its current executions.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.running.end().await
    }
}

/// A running worker.
pub(super) struct WorkerTask {
    stop: CancellationToken,
    task: JoinHandle<Result<(), ff_sdk::Error>>,
}

impl WorkerTask {
    /// Stops the worker after its current executions.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await.context("the worker broke off")??)
    }
}
