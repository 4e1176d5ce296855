//! One connection to the file, and the settings that all connections share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ff_backend_sql::{Row, SqlError, Value};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OpenFlags, Statement, ToSql};

use crate::open_error::OpenError;
use crate::options::Durability;
use crate::owner::{APPLICATION_ID, Owner};

/// Maximum time that a connection waits for another. Connections wait only while the log is recovered or reset.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of prepared statements of a connection. There are a few dozen.
const KEPT_STATEMENTS: usize = 128;
/// Number of pages in the log after which they are moved into the database: enough that a page that changes often is moved once.
const CHECKPOINT_PAGES: u32 = 4_096;
/// Maximum disk space that the log keeps after it was emptied.
const LOG_BYTES: u32 = 64 * 1024 * 1024;
/// Page cache of a writer in KiB; a reader has SQLite's default. A commit that split a page walks the whole cache: with 32 MiB
/// that took a fifth of a writer's time. Other pages are read from the operating system's cache.
const CACHE_KIB: i32 = 4 * 1024;

/// Counters of the store, over all its connections.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) statements: AtomicU64,
    pub(crate) commits: AtomicU64,
}

/// A connection that counts its statements.
pub(crate) struct Connection {
    sqlite: rusqlite::Connection,
    meter: Arc<Meter>,
}

/// Opens the writing connection. Marks a new file as ours before anything else is in it.
pub(crate) fn open_to_write(owner: &Owner, durability: Durability) -> Result<rusqlite::Connection, OpenError> {
    let path = &owner.path;
    let set_up = || {
        let sqlite = open(path)?;
        let marked: i32 = sqlite.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if marked != APPLICATION_ID {
            sqlite.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        let journal: String = sqlite.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
        let synchronous = match durability {
            Durability::Full => "full",
            Durability::Normal => "normal",
        };
        sqlite.pragma_update(None, "synchronous", synchronous)?;
        sqlite.pragma_update(None, "fullfsync", "on")?;
        sqlite.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        sqlite.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        sqlite.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Ok((sqlite, journal))
    };
    let (sqlite, journal) = set_up().map_err(|source| OpenError::Sqlite { path: path.clone(), source })?;
    if journal != "wal" {
        let why = "its file system cannot hold a write-ahead log".into();
        return Err(OpenError::NotAStore { path: path.clone(), why });
    }
    Ok(sqlite)
}

/// Opens a read-only connection.
pub(crate) fn open_to_read(path: &Path) -> Result<rusqlite::Connection, rusqlite::Error> {
    let sqlite = open(path)?;
    sqlite.pragma_update(None, "query_only", "on")?;
    Ok(sqlite)
}

fn open(path: &Path) -> Result<rusqlite::Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sqlite = rusqlite::Connection::open_with_flags(path, flags)?;
    sqlite.busy_timeout(PATIENCE)?;
    // A query is planned once, for all values bound to it. Without this setting, a query that can use a partial index is planned
    // at every call.
    sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    sqlite.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    Ok(sqlite)
}

impl Connection {
    pub(crate) fn new(sqlite: rusqlite::Connection, meter: Arc<Meter>) -> Self {
        Self { sqlite, meter }
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        !self.sqlite.is_autocommit()
    }

    /// Runs a statement without parameters and without rows.
    pub(crate) fn run(&self, sql: &str) -> Result<(), SqlError> {
        self.run_each(sql, [[]])
    }

    /// Runs a statement without rows, once for each set of parameters.
    pub(crate) fn run_each<'v, P: IntoIterator<Item = &'v Value>>(
        &self,
        sql: &str,
        sets: impl IntoIterator<Item = P>,
    ) -> Result<(), SqlError> {
        let mut statement = self.sqlite.prepare_cached(sql).map_err(failed)?;
        for parameters in sets {
            self.bind(&mut statement, parameters)?;
            statement.raw_execute().map_err(failed)?;
        }
        Ok(())
    }

    /// Runs a query once for each set of parameters.
    pub(crate) fn query_each(&self, sql: &str, sets: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError> {
        let mut statement = self.sqlite.prepare_cached(sql).map_err(failed)?;
        let mut found = Vec::with_capacity(sets.len());
        for parameters in sets {
            self.bind(&mut statement, parameters)?;
            found.push(rows(&mut statement)?);
        }
        Ok(found)
    }

    /// Moves the whole log into the database.
    pub(crate) fn checkpoint(&self) -> Result<(), rusqlite::Error> {
        self.sqlite.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    fn bind<'v>(
        &self,
        statement: &mut Statement<'_>,
        parameters: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), SqlError> {
        self.meter.statements.fetch_add(1, Ordering::Relaxed);
        for (at, value) in (1..).zip(parameters) {
            statement.raw_bind_parameter(at, BoundValue(value)).map_err(failed)?;
        }
        Ok(())
    }
}

fn rows(statement: &mut Statement<'_>) -> Result<Vec<Row>, SqlError> {
    let columns = statement.column_count();
    let mut rows = Vec::new();
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(failed)? {
        let values = (0..columns).map(|at| value(row.get_ref(at).map_err(failed)?));
        rows.push(Row::new(values.collect::<Result<_, _>>()?));
    }
    Ok(rows)
}

fn value(stored: ValueRef<'_>) -> Result<Value, SqlError> {
    let odd = |what| Err(SqlError::Unreadable(format!("a row holds {what}")));
    match stored {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Text(text) => match str::from_utf8(text) {
            Ok(text) => Ok(Value::Text(text.into())),
            Err(_) => odd("text that is not UTF-8"),
        },
        ValueRef::Blob(bytes) => Ok(Value::Bytes(Bytes::copy_from_slice(bytes))),
        ValueRef::Real(_) => odd("a fraction"),
    }
}

/// A value to bind to a statement.
struct BoundValue<'v>(&'v Value);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Uuid(uuid) => ValueRef::Blob(uuid.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn failed(error: rusqlite::Error) -> SqlError {
    SqlError::Failed(error.to_string())
}
