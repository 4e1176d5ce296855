//! The floor on SQLite: one table, one index on the sort key of a claim, an INSERT and two UPDATEs per lifecycle.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ff_backend_sqlite::Durability;
use rusqlite::{Connection, params};

use crate::store::FloorLoad;

const SCHEMA: &str = "
    CREATE TABLE job (
        id INTEGER PRIMARY KEY, state INTEGER NOT NULL, priority INTEGER NOT NULL, created INTEGER NOT NULL,
        lease INTEGER, payload BLOB NOT NULL
    );
    CREATE INDEX job_order ON job (state, priority, created);";

const CREATE: &str = "INSERT INTO job (state, priority, created, payload) VALUES (0, 0, ?1, ?2)";

const CLAIM: &str = "
    UPDATE job SET state = 1, lease = ?1
    WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY priority, created LIMIT 1)
    RETURNING id, payload";

const COMPLETE: &str = "UPDATE job SET state = 2, lease = NULL WHERE id = ?1";

/// A queue in a separate file, which is removed at the end.
pub(crate) struct SqliteFloor {
    sqlite: Connection,
    path: PathBuf,
    /// Number of created rows; also used as the creation time.
    created: i64,
}

impl SqliteFloor {
    /// Creates the file, with the durability of the store.
    pub(crate) fn make(path: &Path, durability: Durability) -> anyhow::Result<Self> {
        remove(path)?;
        let sqlite = Connection::open(path)?;
        let floor = Self { sqlite, path: path.to_owned(), created: 0 };
        floor.sqlite.pragma_update(None, "journal_mode", "wal")?;
        let synchronous = match durability {
            Durability::Full => "full",
            Durability::Normal => "normal",
        };
        floor.sqlite.pragma_update(None, "synchronous", synchronous)?;
        floor.sqlite.execute_batch(SCHEMA)?;
        Ok(floor)
    }

    /// Takes every job through its lifecycle, each step for a batch of jobs in one transaction.
    pub(crate) fn run(mut self, load: &FloorLoad) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let mut left = load.count;
        while left > 0 {
            let jobs = load.batch.clamp(1, left);
            self.create(jobs, &load.payload)?;
            let claimed = self.claim(jobs)?;
            self.complete(&claimed)?;
            left -= jobs;
        }
        let took = began.elapsed();
        let undone: i64 = self.sqlite.query_row("SELECT count(*) FROM job WHERE state <> 2", [], |row| row.get(0))?;
        drop(self.sqlite);
        remove(&self.path)?;
        anyhow::ensure!(undone == 0, "the floor left {undone} jobs undone");
        Ok(took)
    }

    fn create(&mut self, jobs: usize, payload: &[u8]) -> rusqlite::Result<()> {
        let transaction = self.sqlite.transaction()?;
        {
            let mut create = transaction.prepare_cached(CREATE)?;
            for _ in 0..jobs {
                self.created += 1;
                create.execute(params![self.created, payload])?;
            }
        }
        transaction.commit()
    }

    fn claim(&mut self, jobs: usize) -> rusqlite::Result<Vec<i64>> {
        let transaction = self.sqlite.transaction()?;
        let mut claimed = Vec::with_capacity(jobs);
        {
            let mut claim = transaction.prepare_cached(CLAIM)?;
            for _ in 0..jobs {
                let (id, _payload) =
                    claim.query_row([self.created], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
                claimed.push(id);
            }
        }
        transaction.commit()?;
        Ok(claimed)
    }

    fn complete(&mut self, claimed: &[i64]) -> rusqlite::Result<()> {
        let transaction = self.sqlite.transaction()?;
        {
            let mut complete = transaction.prepare_cached(COMPLETE)?;
            for id in claimed {
                complete.execute([id])?;
            }
        }
        transaction.commit()
    }
}

/// Removes the file, with the `-wal` and `-shm` files of SQLite.
fn remove(path: &Path) -> anyhow::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
