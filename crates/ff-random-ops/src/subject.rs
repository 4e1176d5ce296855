//! The tested side, and the randomness that it shares with the model.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::generator::Mix;
use crate::prelude::*;

/// A store, or the part of a store that performs groups of operations.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Returns the store whose calls are compared with the model, or `None` if only groups of operations are compared.
    fn store(&self) -> Option<&dyn EngineStore>;

    /// Returns the layer above the store whose calls are tested, or `None` if the store itself is tested.
    fn calls(&self) -> Option<&dyn EngineBackend> {
        None
    }

    /// Performs a group of operations with the same results as one by one. Called only for a subject without a store.
    async fn perform(
        &mut self,
        group: Vec<(Operation, Nonce)>,
    ) -> Vec<Result<(Reply, Vec<ClaimedExecution>), Refusal>> {
        unreachable!("a store is asked call by call, not {group:?}")
    }

    /// Returns all records of a partition.
    async fn snapshot(&mut self, partition: u16) -> Snapshot {
        let store = self.store().unwrap_or_else(|| unreachable!("a subject without a store reads for itself"));
        store.snapshot(partition).await.unwrap()
    }

    /// Closes and reopens the store, if its contents survive that.
    async fn reopen(&mut self) {}

    /// Closes the store permanently.
    async fn close(self: Box<Self>) {}
}

/// The options with which a store is opened and reopened.
#[derive(Clone)]
pub struct Options {
    pub partitions: PartitionConfig,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

/// Constructor of an empty subject that uses the clock and the entropy of the run.
pub type SubjectFactory = fn(Options) -> SubjectFuture;

/// Future of a new subject.
pub type SubjectFuture = Pin<Box<dyn Future<Output = Box<dyn Subject>> + Send>>;

/// Entropy that returns the same nonce to both sides until the next one is drawn, however often a store reads it.
pub(crate) struct SharedEntropy {
    source: SeededEntropy,
    current: Mutex<Nonce>,
}

impl SharedEntropy {
    pub(crate) fn new(seed: u64) -> Self {
        let source = SeededEntropy::new(seed);
        let current = Mutex::new(source.nonce());
        Self { source, current }
    }

    /// Draws a new nonce, which is returned from now on.
    pub(crate) fn draw(&self) -> Nonce {
        let drawn = self.source.nonce();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
        drawn
    }
}

impl Entropy for SharedEntropy {
    fn nonce(&self) -> Nonce {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn secret(&self) -> [u8; 32] {
        self.source.secret()
    }
}

/// The mix of a run and the subject that the model is compared with. Without a subject, the model alone performs the
/// run and the laws are checked after every operation.
#[derive(Clone, Copy)]
pub struct Setup {
    pub make: Option<SubjectFactory>,
    pub mix: Mix,
    /// Whether the run continues until nothing is left to do: every execution and every flow ends, and executions are
    /// forgotten.
    pub to_the_end: bool,
}
