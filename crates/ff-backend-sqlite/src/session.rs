//! What the executor asks of a connection. SQLite answers at once, so nothing here waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_backend_sql::{Columns, Key, Put, Read, Row, Session, SqlError, Table, Value};
use ff_core::clock::{Clock, MonotonicClock};
use ff_core::hint::Hint;
use ff_core::types::TimestampMs;

use crate::connection::Connection;
use crate::dialect::{Phrases, Purpose};
use crate::hints::Announcer;
use crate::meta;

/// A connection that reads.
pub(crate) struct Reading {
    pub(crate) connection: Connection,
    phrases: Phrases,
}

impl Reading {
    pub(crate) fn over(connection: Connection) -> Self {
        Self { connection, phrases: Phrases::default() }
    }
}

impl Read for Reading {
    async fn load(
        &mut self,
        table: &'static Table,
        wanted: Columns,
        keys: &[Key],
    ) -> Result<Vec<Option<Row>>, SqlError> {
        let sql = self.phrases.get(table, Purpose::Load(wanted));
        let found = self.connection.query_each(&sql, keys)?;
        Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
    }

    async fn query(&mut self, sql: &'static str, parameters: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError> {
        self.connection.query_each(sql, parameters)
    }
}

/// The connection that writes. The file has one owner and one writer, so every partition is its own.
pub(crate) struct Writing {
    reading: Reading,
    clock: Arc<MonotonicClock>,
    announcer: Announcer,
    now: TimestampMs,
}

impl Writing {
    pub(crate) fn over(connection: Connection, clock: Arc<MonotonicClock>, announcer: Announcer) -> Self {
        Self { reading: Reading::over(connection), clock, announcer, now: TimestampMs::default() }
    }

    pub(crate) fn into_connection(self) -> Connection {
        self.reading.connection
    }

    fn run<'v>(&self, sql: &str, parameters: impl Iterator<Item = &'v Value>) -> Result<(), SqlError> {
        self.reading.connection.run(sql, parameters)
    }
}

impl Read for Writing {
    async fn load(
        &mut self,
        table: &'static Table,
        wanted: Columns,
        keys: &[Key],
    ) -> Result<Vec<Option<Row>>, SqlError> {
        self.reading.load(table, wanted, keys).await
    }

    async fn query(&mut self, sql: &'static str, parameters: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError> {
        self.reading.query(sql, parameters).await
    }
}

impl Session for Writing {
    async fn begin(&mut self, _partitions: &[u16]) -> Result<TimestampMs, SqlError> {
        if self.reading.connection.is_in_transaction() {
            self.rollback().await?;
        }
        self.run("BEGIN IMMEDIATE", [].iter())?;
        self.now = self.clock.now();
        Ok(self.now)
    }

    async fn put(&mut self, table: &'static Table, rows: &[Put]) -> Result<(), SqlError> {
        for Put { row, changed } in rows {
            let values = row.values();
            let Some(changed) = changed else {
                let sql = self.reading.phrases.get(table, Purpose::Put);
                self.run(&sql, values.iter())?;
                continue;
            };
            let sql = self.reading.phrases.get(table, Purpose::Change(*changed));
            let set = table.chosen(*changed).map(|(at, _)| &values[at]);
            self.run(&sql, set.chain(&values[..table.key]))?;
        }
        Ok(())
    }

    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError> {
        let sql = self.reading.phrases.get(table, Purpose::Delete);
        keys.iter().try_for_each(|key| self.run(&sql, key.iter()))
    }

    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        self.run(meta::SET_CLOCK, [self.now.into()].iter())?;
        self.run("COMMIT", [].iter())?;
        self.reading.connection.meter().commits.fetch_add(1, Ordering::Relaxed);
        self.announcer.announce(hints);
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SqlError> {
        if self.reading.connection.is_in_transaction() {
            self.run("ROLLBACK", [].iter())?;
        }
        Ok(())
    }
}
