//! The executor's session on a connection. SQLite calls return with their answers, so nothing here waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use ff_backend_sql::{
    Announcer, Columns, Key, Load, Over, Put, Read, Row, Session, SqlError, Table, TransactionContext, Value,
};
use ff_core::backend::clock::{Clock, MonotonicClock};
use ff_core::backend::hint::Hint;
use ff_core::types::TimestampMs;

use crate::connection::Connection;
use crate::dialect::{Purpose, StatementCache};
use crate::meta;

/// A reading connection.
pub(crate) struct ReaderSession {
    pub(crate) connection: Connection,
    statement_cache: StatementCache,
}

impl ReaderSession {
    pub(crate) fn over(connection: Connection) -> Self {
        Self { connection, statement_cache: StatementCache::default() }
    }
}

#[async_trait]
impl Read for ReaderSession {
    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError> {
        match request {
            Load::Rows(table, wanted, keys) => {
                self.connection.query_each(&self.statement_cache.get(table, Purpose::Load(wanted)), &keys)
            }
            Load::Query(sql, sets) => self.connection.query_each(sql, &sets),
        }
    }
}

/// The writing connection. The file has one owner and one writer, so every partition belongs to its session.
pub(crate) struct WriterSession {
    reading: ReaderSession,
    clock: Arc<MonotonicClock>,
    announcer: Announcer,
    now: TimestampMs,
}

impl WriterSession {
    pub(crate) fn over(connection: Connection, clock: Arc<MonotonicClock>, announcer: Announcer) -> Self {
        Self { reading: ReaderSession::over(connection), clock, announcer, now: TimestampMs::default() }
    }

    pub(crate) fn into_connection(self) -> Connection {
        self.reading.connection
    }

    fn connection(&self) -> &Connection {
        &self.reading.connection
    }
}

#[async_trait]
impl Read for WriterSession {
    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError> {
        self.reading.answer(request).await
    }
}

#[async_trait]
impl Session for WriterSession {
    fn is_alone(&self) -> bool {
        true
    }

    async fn begin(&mut self, _partitions: &[u16], _first: Vec<Load>) -> Result<TransactionContext, SqlError> {
        self.rollback().await?;
        self.connection().run("BEGIN IMMEDIATE")?;
        self.now = self.clock.now();
        // Lanes and feeds are cached, so asking first would gain nothing.
        Ok(TransactionContext {
            now: self.now,
            is_followed: true,
            has_lanes: true,
            has_quotas: true,
            lock_session: None,
        })
    }

    async fn put(&mut self, table: &'static Table, rows: Vec<Put>) -> Result<(), SqlError> {
        for (over, rows) in by_statement(&rows) {
            let purpose = match over {
                Over::Nothing => Purpose::Insert,
                Over::Unknown => Purpose::Put,
                Over::Known(changed) => Purpose::Change(changed),
            };
            let sql = self.reading.statement_cache.get(table, purpose);
            match over {
                Over::Nothing | Over::Unknown => self.connection().run_each(&sql, rows.into_iter().map(Row::values))?,
                Over::Known(changed) => {
                    self.connection().run_each(&sql, rows.into_iter().map(|row| change(table, changed, row)))?;
                }
            }
        }
        Ok(())
    }

    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError> {
        let Some(length) = keys.first().map(Vec::len) else { return Ok(()) };
        let sql = self.reading.statement_cache.get(table, Purpose::Delete(length));
        self.connection().run_each(&sql, keys)
    }

    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        self.connection().run_each(meta::SET_CLOCK, [&[self.now.into()]])?;
        self.connection().run("COMMIT")?;
        self.connection().meter().commits.fetch_add(1, Ordering::Relaxed);
        self.announcer.announce(hints);
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SqlError> {
        if self.connection().is_in_transaction() {
            self.connection().run("ROLLBACK")?;
        }
        Ok(())
    }
}

/// Returns the changed values of a row, followed by its key.
fn change<'r>(table: &'static Table, changed: Columns, row: &'r Row) -> impl Iterator<Item = &'r Value> {
    let values = row.values();
    table.chosen(changed).map(|(at, _)| &values[at]).chain(&values[..table.key])
}

/// Groups rows by the statement that writes them. No two rows have the same key, so their order does not matter.
fn by_statement(rows: &[Put]) -> Vec<(Over, Vec<&Row>)> {
    let mut groups: Vec<(Over, Vec<&Row>)> = Vec::new();
    for Put { row, over } in rows {
        match groups.iter_mut().find(|(of, _)| of == over) {
            Some((_, group)) => group.push(row),
            None => groups.push((*over, vec![row])),
        }
    }
    groups
}
