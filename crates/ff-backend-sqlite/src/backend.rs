//! The store: opening it, closing it, and its properties.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_backend_sql::{Announcer, Driver, Question, ReadContext, SqlStore, WriterHandle};
use ff_core::backend::Answer;
use ff_core::backend::clock::{Clock, MonotonicClock};
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

use crate::connection::{Connection, Meter, open_to_write};
use crate::meta;
use crate::migrate::migrate;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::owner::Owner;
use crate::readers::Readers;
use crate::session::WriterSession;
use crate::writer::Writer;

/// A store in one file. Dropping it finishes the queued operations and frees the file. [`Sqlite::close`] does so without
/// blocking.
pub type SqliteBackend = SqlStore<Sqlite>;

/// The SQLite [`Driver`]: writer, readers and hints of one file.
pub struct Sqlite {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) announcer: Announcer,
    pub(crate) clock: Arc<MonotonicClock>,
    pub(crate) outages: OutageLog,
    partitions: PartitionConfig,
    meter: Arc<Meter>,
}

/// Opens the store in a file, and creates it if it does not exist.
///
/// ```
/// use ff_backend_sqlite::SqliteOptions;
/// use ff_core::backend::Perform;
/// use ff_core::contracts::SubmitArgs;
/// use ff_core::payload::Payload;
/// use ff_core::types::Kind;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let store = ff_backend_sqlite::open(&directory.path().join("work.db"), SqliteOptions::default())?;
/// let submitted = store.submit(SubmitArgs::new(Kind::parse("resize")?, Payload::json("1"))).await?;
/// assert_eq!(store.describe(&submitted.execution_id).await?.kind.as_str(), "resize");
/// store.close().await;
/// # Ok(())
/// # }
/// ```
pub fn open(path: &Path, options: SqliteOptions) -> Result<SqliteBackend, OpenError> {
    if let Some(config) = options.partitions {
        check(config)?;
    }
    let owner = Owner::take(path)?;
    let path = owner.path.clone();
    let mut sqlite = open_to_write(&owner, options.durability)?;
    let partitions = migrate(&mut sqlite, &path, options.partitions, &*options.entropy)?;
    let earliest = meta::clock(&sqlite).map_err(|source| OpenError::Sqlite { path: path.clone(), source })?;
    let clock = Arc::new(MonotonicClock::new(options.clock, earliest));
    let (meter, announcer) = (Arc::new(Meter::default()), Announcer::default());
    let session = WriterSession::over(Connection::new(sqlite, meter.clone()), clock.clone(), announcer.clone());
    let writer = Writer::start(session, owner, partitions, options.entropy)
        .map_err(|source| OpenError::Io { path: path.clone(), source })?;
    let (readers, outages) = (Readers::new(path, meter.clone()), OutageLog::default());
    Ok(SqlStore::new(Sqlite { writer, readers, announcer, clock, outages, partitions, meter }))
}

impl Sqlite {
    /// Waits for queued operations, moves everything into the one file and frees it. Later calls fail because the store is
    /// closed.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Returns the number of statements that the store has run since it was opened. An idle store runs none.
    pub fn statements(&self) -> u64 {
        self.meter.statements.load(Ordering::Relaxed)
    }

    /// Returns the number of transactions that the store has committed since it was opened. Under load, each has many operations.
    pub fn commits(&self) -> u64 {
        self.meter.commits.load(Ordering::Relaxed)
    }
}

impl Driver for Sqlite {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }

    fn writer(&self) -> &WriterHandle {
        &self.writer.writer
    }

    async fn read<Q: Question>(&self, question: Q, at: ReadContext) -> Answer<Q::Answer> {
        self.readers.read(question, at).await
    }

    async fn now(&self) -> Answer<TimestampMs> {
        Ok(self.clock.now())
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn announce(&self, hints: Vec<Hint>) {
        self.announcer.announce(hints);
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
    }

    /// Returns `None`: hints stay within the process, and none is lost.
    fn sweep_every(&self) -> Option<Duration> {
        None
    }

    fn claims_at_once(&self) -> usize {
        1
    }
}

fn check(config: PartitionConfig) -> Result<(), OpenError> {
    let counts = [config.num_flow_partitions, config.num_budget_partitions, config.num_quota_partitions];
    if counts.contains(&0) { Err(OpenError::NoPartitions { requested: config }) } else { Ok(()) }
}
