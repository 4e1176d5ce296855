//! The side that is tested: a store made for one walk.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use ff_core::backend::Upkeep;
use ff_core::clock::Clock;
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;

/// A store, and how to let go of it.
pub struct Made {
    pub store: Arc<dyn Upkeep>,
    pub closing: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

/// Makes an empty store that takes time and chance from the walk.
pub type Subject = fn(PartitionConfig, Arc<dyn Clock>, Arc<dyn Dice>) -> Made;

/// A store in memory.
pub fn memory(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Made {
    Made { store: Arc::new(MemoryBackend::new(partitions, clock, dice)), closing: Box::pin(async {}) }
}

/// A store in a file. What it holds is compared, not what it survives, so it need not wait for the disk.
pub fn sqlite(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { partitions: Some(partitions), clock, dice, durability: Durability::Normal };
    let store = Arc::new(SqliteBackend::open(&folder.path().join("walk.db"), options).unwrap());
    let file = store.clone();
    let closing = async move {
        file.close().await;
        drop(folder);
    };
    Made { store, closing: Box::pin(closing) }
}
