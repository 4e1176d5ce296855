//! The store: connecting to it, closing it, and its properties.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use ff_backend_sql::{Announcer, Driver, Question, Read, ReadContext, Row, SqlStore, Value, WriterHandle, shares};
use ff_core::backend::Answer;
use ff_core::backend::clock::{Clock, MonotonicClock};
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::engine_error::EngineError;
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::connect::connector::Connector;
use crate::connect::url::StoreLocation;
use crate::hints::{ANNOUNCEMENTS, Listener, ListenerPresence, Notes, pass_on, poll};
use crate::inbox::consume_inbox;
use crate::meta::{LATEST, SLOTS};
use crate::migrate::{PreparedStore, prepare};
use crate::readers::Readers;
use crate::session::WriterSession;
use crate::writers::Writers;
use crate::{ConnectError, PostgresOptions};

/// A store in a Postgres database. Any number of programs may use one.
pub type PostgresBackend = SqlStore<Postgres>;

/// The Postgres [`Driver`]: writers, readers and hints of one store.
pub struct Postgres {
    pub(crate) writers: Writers,
    pub(crate) readers: Readers,
    pub(crate) announcer: Announcer,
    announcements: mpsc::Sender<Vec<Hint>>,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) connector: Arc<Connector>,
    pub(crate) outages: Arc<OutageLog>,
    partitions: PartitionConfig,
    /// Ends the tasks that receive hints and consume the inbox when the store is dropped.
    _listening: DropGuard,
}

/// Connects to `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
///
/// Checks the database first, and writes only if it can be used. It then applies missing migrations, writes the partition counts
/// of a new store, and adds token secrets for partitions that have none.
pub async fn connect(url: &str, options: PostgresOptions) -> Result<PostgresBackend, ConnectError> {
    connecting(url, options).await
}

/// Connects. The future is boxed, so that it is compiled in this crate and not again in every program that connects.
#[inline(never)]
fn connecting(url: &str, options: PostgresOptions) -> BoxFuture<'_, Result<PostgresBackend, ConnectError>> {
    Box::pin(async move { Ok(SqlStore::new(Postgres::prepare_and_open(url, options).await?)) })
}

impl Postgres {
    async fn prepare_and_open(url: &str, options: PostgresOptions) -> Result<Self, ConnectError> {
        let connector = Arc::new(Connector::new(StoreLocation::parse(url)?));
        let PreparedStore { partitions, class, risks, .. } = prepare(&connector, &options).await?;
        for risk in risks {
            tracing::warn!("{} may lose acknowledged work: {risk}", connector.place.address());
        }
        let clock = options.clock.map(monotonic);
        let announcer = Announcer::default();
        let ourselves = Uuid::new_v4();
        let sender = ourselves.simple().to_string();
        let presence = ListenerPresence::default();
        let notes = Notes::new(&connector.place, &sender, presence.clone());
        let first_slot = i32::from(ourselves.as_bytes()[0]);
        let outages = Arc::<OutageLog>::default();
        let shares = shares(connector.place.writers, &partitions);
        let session = |(nth, share)| {
            let (slot, clock, outages) = ((first_slot + nth) % SLOTS, clock.clone(), outages.clone());
            let names = (class, slot);
            WriterSession::new(connector.clone(), share, names, clock, announcer.clone(), notes.clone(), outages)
        };
        let sessions = (0..).zip(shares).map(session).collect();
        let failed = |why: String| ConnectError::Server { address: connector.place.address(), why };
        let threadless = |error: std::io::Error| failed(format!("this system has no thread for a writer: {error}"));
        let writers = Writers::start(sessions, partitions, &options.entropy).map_err(threadless)?;
        let readers = Readers::new(connector.clone());
        let (announcements, announced) = mpsc::channel(ANNOUNCEMENTS);
        let listening = CancellationToken::new();
        let inbox = Arc::new(Notify::new());
        if connector.place.listen {
            let unheard = |error: crate::connect::driver_error::DriverError| ConnectError::Server {
                address: connector.place.address(),
                why: error.why().to_owned(),
            };
            let (connector, outages) = (connector.clone(), outages.clone());
            let listener = Listener { connector, class, ourselves: sender, presence, outages };
            let subscription = listener.subscribe().await.map_err(unheard)?;
            let passing = pass_on(subscription, listener, announcer.clone(), announced, inbox.clone());
            tokio::spawn(listening.clone().run_until_cancelled_owned(passing));
        } else {
            let polling = poll(connector.clone(), announcer.clone(), announced, sender, inbox.clone());
            tokio::spawn(listening.clone().run_until_cancelled_owned(polling));
        }
        let inbox_consumer = consume_inbox(connector.clone(), writers.writer.clone(), inbox);
        tokio::spawn(listening.clone().run_until_cancelled_owned(inbox_consumer));
        let _listening = listening.drop_guard();
        Ok(Self { writers, readers, announcer, announcements, clock, connector, outages, partitions, _listening })
    }

    /// Waits for running reads and queued operations, and accepts no more. Later calls fail because the store is closed.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }

    /// Returns the number of statements that the store has sent since it was connected.
    pub fn statements(&self) -> u64 {
        self.connector.meter.statements.load(Ordering::Relaxed)
    }

    /// Returns the number of transactions that the store has committed since it was connected. Under load, each has many
    /// operations.
    pub fn commits(&self) -> u64 {
        self.connector.meter.commits.load(Ordering::Relaxed)
    }
}

impl Driver for Postgres {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }

    fn writer(&self) -> &WriterHandle {
        &self.writers.writer
    }

    async fn read<Q: Question>(&self, question: Q, at: ReadContext) -> Answer<Q::Answer> {
        self.readers.read(question, at).await
    }

    async fn now(&self) -> Answer<TimestampMs> {
        let clock = self.clock.as_ref().map(|clock| clock.now());
        self.readers.read(ReadClock { clock }, ReadContext::default()).await
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn announce(&self, hints: Vec<Hint>) {
        self.announcer.announce(hints.clone());
        // The channel is full while the database does not answer. Hints may be lost.
        self.announcements.try_send(hints).ok();
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
    }

    fn sweep_every(&self) -> Option<Duration> {
        Some(Duration::from_millis(limits::SWEEP_MS))
    }

    /// A claim waits for a commit, and meanwhile the server can work on another one.
    fn claims_at_once(&self) -> usize {
        2
    }
}

/// Question for the store's time, which is never before the latest time written.
struct ReadClock {
    /// The time of the given clock. `None` means the server's time.
    clock: Option<TimestampMs>,
}

#[async_trait]
impl Question for ReadClock {
    type Answer = TimestampMs;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<TimestampMs> {
        let rows = reader.query(LATEST, &[vec![]]).await?;
        match rows.iter().flatten().next().map(Row::values) {
            Some([Value::Int(time), Value::Int(latest)]) => {
                Ok(self.clock.unwrap_or(TimestampMs(*time)).max(TimestampMs(*latest)))
            }
            _ => Err(EngineError::Corrupt("the store has lost its clock".into())),
        }
    }
}

fn monotonic(clock: Arc<dyn Clock>) -> Arc<dyn Clock> {
    Arc::new(MonotonicClock::new(clock, TimestampMs::default()))
}
