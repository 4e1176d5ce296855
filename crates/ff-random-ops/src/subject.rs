//! The side that is tested, and the randomness it shares with the model.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ff_core::backend::{EngineBackend, EngineStore};
use ff_core::clock::Clock;
use ff_core::contracts::ClaimedExecution;
use ff_core::engine_error::Refusal;
use ff_core::entropy::{Entropy, Nonce, SeededEntropy};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::snapshot::Snapshot;

use crate::generator::Mix;

/// A store, or the part of one that performs groups of operations.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The store whose calls are compared with the model's; none when only groups of operations are.
    fn store(&self) -> Option<&dyn EngineStore>;

    /// The way to the store's calls that is tested, when it is not the store itself.
    fn calls(&self) -> Option<&dyn EngineBackend> {
        None
    }

    /// Performs a group of operations as if each had come alone. Only subjects that are no store are asked.
    async fn perform(
        &mut self,
        group: Vec<(Operation, Nonce)>,
    ) -> Vec<Result<(Reply, Vec<ClaimedExecution>), Refusal>> {
        unreachable!("a store is asked call by call, not {group:?}")
    }

    /// Everything a partition holds.
    async fn snapshot(&mut self, partition: u16) -> Snapshot {
        let store = self.store().unwrap_or_else(|| unreachable!("a subject without a store reads for itself"));
        store.snapshot(partition).await.unwrap()
    }

    /// Closes the store, and opens it again where it can outlive that.
    async fn reopen(&mut self) {}

    /// Closes the store for good.
    async fn close(self: Box<Self>) {}
}

/// The options a store is opened with, each time.
#[derive(Clone)]
pub struct Options {
    pub partitions: PartitionConfig,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

/// Makes an empty subject that takes time and randomness from the run.
pub type Make = fn(Options) -> MakingSubject;

/// A subject being made.
pub type MakingSubject = Pin<Box<dyn Future<Output = Box<dyn Subject>> + Send>>;

/// Shows every side one nonce until the next is drawn, however often a store looks.
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

    /// Draws the nonce that is shown from now on.
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

/// The mix of a run, and the subject it is compared with; without one the model alone performs it, and the laws are
/// checked after every operation.
#[derive(Clone, Copy)]
pub struct Setup {
    pub make: Option<Make>,
    pub mix: Mix,
    /// Whether the run goes on until nothing is left to do: everything comes to its end and is forgotten.
    pub to_the_end: bool,
}
