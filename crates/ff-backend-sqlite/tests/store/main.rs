//! Tests of promises that only the SQLite store makes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batches;
mod cost;
mod doctor;
mod file;
mod flows;
mod hints;
mod lanes_and_events;
#[path = "../../../ff-backend-sql/tests/shared/mod.rs"]
mod shared;

use std::path::{Path, PathBuf};

use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use ff_core::partition::PartitionConfig;
use shared::{at, claim_on, findings, key, signal, stopped_clock, suspended, work};
use tempfile::TempDir;

/// The directory of one test, and the file of its store.
struct StoreLocation(TempDir);

impl StoreLocation {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("work.db")
    }

    fn open(&self) -> SqliteBackend {
        ff_backend_sqlite::open(&self.path(), options()).unwrap()
    }

    /// Opens the store as the tests of both SQL stores do.
    async fn open_store(&self, partitions: Option<PartitionConfig>) -> SqliteBackend {
        ff_backend_sqlite::open(&self.path(), SqliteOptions { partitions, ..options() }).unwrap()
    }

    /// Fills the feed of a store with copies of its only delivery, up to `full` deliveries.
    async fn fill_feed(&self, full: usize) {
        let fill = "
            WITH RECURSIVE more (seq) AS (SELECT 2 UNION ALL SELECT seq + 1 FROM more WHERE seq < ?1)
            INSERT INTO delivery SELECT partition, recorded_at, more.seq - 1, more.seq, record FROM delivery, more";
        assert_eq!(self.look().execute(fill, [i64::try_from(full).unwrap()]), Ok(full - 1));
    }

    /// Opens the file with SQLite, for changing it without the store while no store has it open.
    fn look(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

/// Returns the default options without waiting for the disk, which most tests do not test.
fn options() -> SqliteOptions {
    SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() }
}

/// Returns the path of a file beside a store's, as SQLite names it.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
