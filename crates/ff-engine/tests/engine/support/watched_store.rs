//! A store for tests that counts its calls, and that can be made to fail or to lose its hints.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{Answer, BoxedAnswer, EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, PumpArgs};
use ff_core::engine_error::EngineError;
use ff_core::operation::query::{Query, QueryReply, Sweep};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::yield_now;

/// A wrapper around a real store.
pub(crate) struct WatchedStore {
    inner: Arc<dyn EngineStore>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
    down: AtomicBool,
    partitions_down: Mutex<Range<u16>>,
    drops_hints: Arc<AtomicBool>,
    missed: broadcast::Sender<Hint>,
    sweep_every: Mutex<Option<Duration>>,
    ahead_ms: AtomicU64,
    /// Permits for sweeps and readings of the clock, as in a store with a limited number of connections.
    connections: Semaphore,
}

impl WatchedStore {
    pub(crate) fn over(inner: Arc<dyn EngineStore>) -> Self {
        Self {
            inner,
            calls: Mutex::default(),
            down: AtomicBool::new(false),
            partitions_down: Mutex::new(0..0),
            drops_hints: Arc::default(),
            missed: broadcast::Sender::new(16),
            sweep_every: Mutex::default(),
            ahead_ms: AtomicU64::new(0),
            connections: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    /// Limits the number of connections.
    pub(crate) fn has_connections(&self, count: usize) {
        self.connections.forget_permits(Semaphore::MAX_PERMITS - count);
    }

    /// Returns how often one call was made.
    pub(crate) fn call_count(&self, what: &str) -> usize {
        self.calls.lock().unwrap().get(what).copied().unwrap_or(0)
    }

    /// Returns how often each call was made.
    pub(crate) fn calls(&self) -> BTreeMap<&'static str, usize> {
        self.calls.lock().unwrap().clone()
    }

    /// Makes every call fail from now on, or none.
    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// Makes every pump, sweep and claim of these partitions fail from now on, and those of other partitions succeed.
    pub(crate) fn set_partitions_down(&self, partitions: Range<u16>) {
        *self.partitions_down.lock().unwrap() = partitions;
    }

    /// Drops all hints from now on.
    pub(crate) fn lose_hints(&self) {
        self.drops_hints.store(true, Ordering::SeqCst);
    }

    /// Passes on hints again, without reporting a miss to listeners.
    pub(crate) fn find_hints_unnoticed(&self) {
        self.drops_hints.store(false, Ordering::SeqCst);
    }

    /// Passes on hints again, and reports a miss to listeners.
    pub(crate) fn find_hints(&self) {
        self.drops_hints.store(false, Ordering::SeqCst);
        self.missed.send(Hint::Missed).unwrap();
    }

    /// Makes the store report that its hints can be lost unnoticed.
    pub(crate) fn sweep_every(&self, every: Duration) {
        *self.sweep_every.lock().unwrap() = Some(every);
    }

    /// Makes the store's clock run ahead of the clock of its partitions, as between two machines.
    pub(crate) fn set_clock_ahead(&self, ms: u64) {
        self.ahead_ms.store(ms, Ordering::SeqCst);
    }

    fn ask(&self, what: &'static str) -> Answer<()> {
        *self.calls.lock().unwrap().entry(what).or_default() += 1;
        if self.down.load(Ordering::SeqCst) {
            return Err(EngineError::Unavailable("it is down for a test".into()));
        }
        Ok(())
    }
}

impl WatchedStore {
    fn ask_of(&self, what: &'static str, partition: u16) -> Answer<()> {
        self.ask(what)?;
        if self.partitions_down.lock().unwrap().contains(&partition) {
            return Err(EngineError::Unavailable("its partition is down for a test".into()));
        }
        Ok(())
    }
}

impl Perform for WatchedStore {
    fn partitions(&self) -> PartitionConfig {
        self.inner.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move {
            match &operation {
                Operation::Claim(ClaimArgs { partition, .. }) | Operation::Pump(PumpArgs { partition }) => {
                    self.ask_of(operation.name(), *partition)?;
                }
                _ => self.ask(operation.name())?,
            }
            self.inner.perform(operation).await
        })
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        Box::pin(async move {
            match &query {
                Query::Sweep(Sweep { partition }) => self.ask_of(query.name(), *partition)?,
                _ => self.ask(query.name())?,
            }
            if matches!(query, Query::ReadStream(_)) {
                // Other tasks run during the read, as with a store on another machine.
                yield_now().await;
            }
            if !matches!(query, Query::Sweep(_) | Query::Now(_)) {
                return self.inner.query(query).await;
            }
            let _connection = self.connections.acquire().await.unwrap();
            let reply = self.inner.query(query).await?;
            Ok(match reply {
                QueryReply::Now(now) => QueryReply::Now(now + self.ahead_ms.load(Ordering::SeqCst)),
                swept => {
                    yield_now().await;
                    swept
                }
            })
        })
    }
}

impl EngineStore for WatchedStore {
    fn sweep_every(&self) -> Option<Duration> {
        *self.sweep_every.lock().unwrap()
    }

    fn claims_at_once(&self) -> usize {
        self.inner.claims_at_once()
    }

    fn hints(&self) -> Hints {
        let drops_hints = self.drops_hints.clone();
        let hints = self.inner.hints().filter(move |_| {
            let passes = !drops_hints.load(Ordering::SeqCst);
            async move { passes }
        });
        let missed =
            stream::unfold(
                self.missed.subscribe(),
                |mut missed| async move { Some((missed.recv().await.ok()?, missed)) },
            );
        Box::pin(stream::select(hints, missed))
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        Box::pin(async move {
            self.ask("announce")?;
            self.inner.announce(hints).await
        })
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        self.inner.flush_hints()
    }

    fn outages(&self) -> &OutageLog {
        self.inner.outages()
    }
}
