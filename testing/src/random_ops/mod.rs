//! Stores as subjects of random operations. Each store is created for one run.

mod http;
mod postgres;
mod valkey;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use ff_backend_memory::MemoryBackend;
use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use ff_core::backend::EngineStore;
use ff_random_ops::{Options, Subject, SubjectFuture};
use tempfile::TempDir;

pub use http::http_over_memory;
pub use postgres::{postgres, postgres_without_cache, shared_postgres};
pub use valkey::{redis, valkey};

/// Creates a store in memory.
pub fn memory(options: Options) -> SubjectFuture {
    let store = MemoryBackend::new(options.partitions, options.clock, options.entropy);
    Box::pin(async move { Box::new(InMemory(store)) as Box<dyn Subject> })
}

/// Creates a store in a file. Only its contents are compared, so it does not wait for the disk.
pub fn sqlite(options: Options) -> SubjectFuture {
    Box::pin(async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db");
        let store = open(&path, &options);
        Box::new(InFile { store, path, options, _folder: folder }) as Box<dyn Subject>
    })
}

struct InMemory(MemoryBackend);

#[async_trait]
impl Subject for InMemory {
    fn store(&self) -> Option<&dyn EngineStore> {
        Some(&self.0)
    }
}

struct InFile {
    store: SqliteBackend,
    path: PathBuf,
    options: Options,
    _folder: TempDir,
}

fn open(path: &Path, options: &Options) -> SqliteBackend {
    let options = SqliteOptions {
        partitions: Some(options.partitions),
        clock: options.clock.clone(),
        entropy: options.entropy.clone(),
        durability: Durability::Normal,
    };
    ff_backend_sqlite::open(path, options).unwrap()
}

#[async_trait]
impl Subject for InFile {
    fn store(&self) -> Option<&dyn EngineStore> {
        Some(&self.store)
    }

    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = open(&self.path, &self.options);
    }

    async fn close(self: Box<Self>) {
        self.store.close().await;
    }
}
