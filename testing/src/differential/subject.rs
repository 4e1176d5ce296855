//! The side that is tested: a store made for one walk.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_memory::MemoryBackend;
use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use ff_core::backend::EngineStore;
use ff_core::clock::Clock;
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;
use tempfile::TempDir;

/// A store that can be let go of and taken up again.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The store as it is open now.
    fn store(&self) -> &dyn EngineStore;

    /// Closes the store, and opens it again where it can outlive that.
    async fn reopen(&mut self);

    /// Closes the store for good.
    async fn close(self: Box<Self>);
}

/// Makes an empty store that takes time and chance from the walk.
pub type Make = fn(PartitionConfig, Arc<dyn Clock>, Arc<dyn Dice>) -> Making;

/// A store being made.
pub type Making = Pin<Box<dyn Future<Output = Box<dyn Subject>> + Send>>;

/// A store in memory.
pub fn memory(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    Box::pin(async move { Box::new(InMemory(MemoryBackend::new(partitions, clock, dice))) as Box<dyn Subject> })
}

/// A store in a file. What it holds is compared, not what it survives, so it need not wait for the disk.
pub fn sqlite(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    Box::pin(async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("walk.db");
        let options = Options { partitions, clock, dice };
        let store = options.open(&path);
        Box::new(InFile { store, path, options, folder }) as Box<dyn Subject>
    })
}

struct InMemory(MemoryBackend);

#[async_trait]
impl Subject for InMemory {
    fn store(&self) -> &dyn EngineStore {
        &self.0
    }

    async fn reopen(&mut self) {}

    async fn close(self: Box<Self>) {}
}

struct InFile {
    store: SqliteBackend,
    path: PathBuf,
    options: Options,
    folder: TempDir,
}

/// What a store is made with, each time it is opened.
pub(super) struct Options {
    pub(super) partitions: PartitionConfig,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) dice: Arc<dyn Dice>,
}

impl Options {
    fn open(&self, path: &Path) -> SqliteBackend {
        let options = SqliteOptions {
            partitions: Some(self.partitions),
            clock: self.clock.clone(),
            dice: self.dice.clone(),
            durability: Durability::Normal,
        };
        ff_backend_sqlite::open(path, options).unwrap()
    }
}

#[async_trait]
impl Subject for InFile {
    fn store(&self) -> &dyn EngineStore {
        &self.store
    }

    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = self.options.open(&self.path);
    }

    async fn close(self: Box<Self>) {
        self.store.close().await;
        drop(self.folder);
    }
}
