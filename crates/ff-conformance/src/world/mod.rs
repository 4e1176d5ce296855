//! The test environment of a promise: a store, the layers between it and the caller, and the clock.

mod clock;
pub(crate) mod conditions;
mod family;
pub(crate) mod flow;
pub(crate) mod graph;
mod lane;
mod leased;
mod submission;
mod suspension;
mod waitpoint;
mod worker;

use std::sync::atomic::AtomicU16;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_core::doctor;
use futures_util::future::BoxFuture;

use crate::records::*;

pub use clock::{TestClock, WorldClock};
pub use flow::Flow;
pub use graph::Graph;
pub use lane::Lane;
pub use leased::LeasedExecution;
pub use submission::Submission;
pub use waitpoint::Waitpoint;
pub use worker::Worker;

/// Returns a span of `count` milliseconds.
pub fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Returns labels from pairs of names and values.
pub(crate) fn labels(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| (TagKey::parse(key).unwrap(), TagValue::parse(value).unwrap())).collect()
}

/// The contents of a store, partition by partition.
pub type Contents = Vec<Snapshot>;

/// A store under test as its callers reach it. Clones are the same world.
#[derive(Clone)]
pub struct World {
    /// The store that callers use.
    pub backend: Arc<dyn EngineBackend>,
    /// The long polls of the store.
    pub long_poll: Arc<dyn LongPoll>,
    /// The store itself, for the calls that only an engine makes.
    pub engine_store: Arc<dyn EngineStore>,
    /// The clock, which only the test moves.
    pub clock: WorldClock,
    /// Whether callers come through a server, which throttles a caller with many wrong tokens.
    pub is_guarded: bool,
    endings: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    flows: Arc<AtomicU16>,
}

impl World {
    /// Creates a world whose callers reach the store as `backend` and `long_poll`.
    pub fn new(
        backend: Arc<dyn EngineBackend>,
        long_poll: Arc<dyn LongPoll>,
        engine_store: Arc<dyn EngineStore>,
        clock: WorldClock,
    ) -> Self {
        Self {
            backend,
            long_poll,
            engine_store,
            clock,
            is_guarded: false,
            endings: Arc::default(),
            flows: Arc::default(),
        }
    }

    /// Returns the same store, reached through a server.
    pub fn reached_through(mut self, backend: Arc<dyn EngineBackend>, long_poll: Arc<dyn LongPoll>) -> Self {
        (self.backend, self.long_poll, self.is_guarded) = (backend, long_poll, true);
        self
    }

    /// Submits an execution of a kind, with defaults for everything else.
    pub async fn submit(&self, kind: &str, payload: &[u8]) -> ExecutionId {
        self.job(kind).payload(Payload::bytes(payload.to_vec())).submit().await
    }

    /// Returns a builder of a submission.
    pub fn job(&self, kind: &str) -> Submission {
        Submission::new(self.clone(), kind)
    }

    /// Returns a worker of this name.
    pub fn worker(&self, name: &str) -> Worker {
        Worker::new(self.clone(), name)
    }

    /// Submits an execution and claims it.
    pub async fn held(&self) -> LeasedExecution {
        self.submit("resize", b"cat.png").await;
        self.worker("holder").claim().await
    }

    /// Returns the result bytes of a finished execution.
    pub async fn result(&self, id: &ExecutionId) -> Vec<u8> {
        self.ended(id).await.result.map(|result| result.bytes.to_vec()).unwrap_or_default()
    }

    /// Returns the end of a finished execution.
    pub async fn ended(&self, id: &ExecutionId) -> ExecutionEnd {
        self.backend.result(id).await.unwrap()
    }

    /// Returns an execution as callers see it.
    pub async fn describe(&self, id: &ExecutionId) -> ExecutionInfo {
        self.backend.describe(id).await.unwrap()
    }

    /// Returns the public state of an execution.
    pub async fn state(&self, id: &ExecutionId) -> PublicState {
        self.describe(id).await.public_state
    }

    /// Returns every attempt at an execution.
    pub async fn attempts(&self, id: &ExecutionId) -> Attempts {
        self.backend.attempts(id).await.unwrap()
    }

    /// Cancels an execution without giving a reason.
    pub async fn cancel(&self, id: &ExecutionId) -> Answer<CancelledExecution> {
        self.backend.cancel(CancelArgs { execution_id: *id, reason: None, requested_by: None }).await
    }

    /// Replays an execution without giving a reason.
    pub async fn replay(&self, id: &ExecutionId) -> Answer<ReplayedExecution> {
        self.backend.replay(ReplayArgs::new(*id)).await
    }

    /// Revokes the lease of an execution.
    pub async fn revoke(&self, id: &ExecutionId) -> Answer<RevokedLease> {
        self.backend.revoke(RevokeArgs { execution_id: *id, lease_id: None, reason: None }).await
    }

    /// Returns the contents of the store, to compare before and after.
    pub async fn contents(&self) -> Contents {
        let mut contents = Vec::new();
        for partition in self.partitions() {
            contents.push(self.engine_store.snapshot(partition).await.unwrap());
        }
        contents
    }

    /// Makes calls that must write nothing. Returns their answer.
    pub async fn writes_nothing<T>(&self, calls: impl Future<Output = T>) -> T {
        let before = self.contents().await;
        let answer = calls.await;
        assert_eq!(self.contents().await, before);
        answer
    }

    /// Checks that the doctor finds nothing wrong on any partition.
    pub async fn check_invariants(&self) {
        let now = self.engine_store.now().await.unwrap();
        for (partition, snapshot) in self.partitions().zip(self.contents().await) {
            let findings: Vec<_> = doctor::examine(&snapshot, partition, now).iter().map(ToString::to_string).collect();
            assert!(findings.is_empty(), "partition {partition}:\n{}", findings.join("\n"));
        }
    }

    /// Returns every partition of the store.
    pub fn partitions(&self) -> std::ops::Range<u16> {
        0..self.engine_store.partitions().num_flow_partitions
    }

    /// Runs `ending` when this world ends, before the endings added earlier.
    pub fn at_its_end(&self, ending: impl Future<Output = ()> + Send + 'static) {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(ending));
    }

    /// Runs the endings of this world, the latest first.
    pub async fn end(self) {
        let endings = std::mem::take(&mut *self.endings.lock().unwrap_or_else(PoisonError::into_inner));
        for ending in endings.into_iter().rev() {
            ending.await;
        }
    }
}
