//! A store in a SQLite file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use serde_json::Value;

use super::StoreUsage;

/// A store and its file.
pub(crate) struct File {
    store: Arc<SqliteBackend>,
    path: PathBuf,
    durability: Durability,
}

impl File {
    pub(super) fn open(path: &Path, durability: Durability) -> anyhow::Result<(Arc<SqliteBackend>, Self)> {
        let store = Arc::new(ff_backend_sqlite::open(path, SqliteOptions { durability, ..SqliteOptions::default() })?);
        Ok((store.clone(), Self { store, path: path.to_owned(), durability }))
    }

    /// Returns the path of the floor's file, in the same directory.
    pub(super) fn beside(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".floor");
        name.into()
    }

    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    pub(super) fn reading(&self) -> anyhow::Result<StoreUsage> {
        Ok(StoreUsage { bytes: pages(&self.path)?, commits: self.store.commits(), ..StoreUsage::default() })
    }

    pub(super) fn settings(&self) -> BTreeMap<&'static str, Value> {
        let synchronous = match self.durability {
            Durability::Full => "full",
            Durability::Normal => "normal",
        };
        let server = format!("SQLite {}", rusqlite::version());
        BTreeMap::from([("server", server.into()), ("durability", format!("wal, synchronous {synchronous}").into())])
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }
}

/// Returns the bytes of all pages in use, including those still in the log.
fn pages(path: &Path) -> anyhow::Result<u64> {
    let sqlite = rusqlite::Connection::open(path)?;
    let pragma = |name| sqlite.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(u64::try_from((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)?)
}
