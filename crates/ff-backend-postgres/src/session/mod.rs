//! The session of a writer, with one transaction per batch. Writes are sent together and answered with the commit, so a batch
//! takes few network round trips and not one per table.

mod asking;
mod committing;
mod locks;
mod opening;
mod send_buffer;
mod server_state;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ff_backend_sql::{
    Announcer, FEED, Key, LANE, Load, OutboxChanges, Put, QUOTA_SET, Session, SqlError, Table, TransactionContext,
};
use ff_core::backend::clock::Clock;
use ff_core::backend::hint::Hint;
use ff_core::backend::outage::OutageLog;
use ff_core::types::TimestampMs;

use self::committing::UnansweredCommit;
use self::locks::SessionLocks;
use self::send_buffer::SendBuffer;
use crate::connect::connection::{Answer, Connection};
use crate::connect::connector::{Connector, WRITER};
use crate::connect::driver_error::DriverError;
use crate::hints::Notes;
use crate::outbox;
use crate::statement::dialect::StatementCache;
use crate::statement::request::{PendingRequest, Request};
use crate::statement::value::Parameter;

/// Pause before trying again, at first and at most.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(160);

/// A writing connection, reopened whenever it is lost.
pub(crate) struct WriterSession {
    connector: Arc<Connector>,
    connection: Option<Connection>,
    /// The statement that follows the first one of every transaction.
    settle: Option<String>,
    statement_cache: StatementCache,
    /// Statements sent since the last commit and not yet answered, in order.
    sent: Vec<Answer>,
    unanswered: Option<UnansweredCommit>,
    /// Predicted queries, sent and not yet answered, in order.
    ahead: VecDeque<(Load, PendingRequest)>,
    unsent: SendBuffer,
    /// The note of the last commit, sent and not yet answered.
    sent_note: Option<Answer>,
    in_transaction: bool,
    locks: SessionLocks,
    /// The partitions this writer serves.
    partitions: Vec<u16>,
    /// First key of this store's advisory locks, which tells them apart from those of other stores.
    class: i32,
    /// The row of `clock` that this writer updates.
    slot: i32,
    clock: Option<Arc<dyn Clock>>,
    announcer: Announcer,
    notes: Notes,
    outages: Arc<OutageLog>,
    now: TimestampMs,
    /// Number of failures since a batch last began successfully.
    setbacks: u32,
}

impl WriterSession {
    pub(crate) fn new(
        connector: Arc<Connector>,
        partitions: Vec<u16>,
        (class, slot): (i32, i32),
        clock: Option<Arc<dyn Clock>>,
        announcer: Announcer,
        notes: Notes,
        outages: Arc<OutageLog>,
    ) -> Self {
        let settle = connector.settle(WRITER);
        Self {
            connector,
            connection: None,
            settle,
            statement_cache: StatementCache::default(),
            sent: Vec::new(),
            unanswered: None,
            ahead: VecDeque::new(),
            unsent: SendBuffer::default(),
            sent_note: None,
            in_transaction: false,
            locks: SessionLocks::default(),
            partitions,
            class,
            slot,
            clock,
            announcer,
            notes,
            outages,
            now: TimestampMs::default(),
            setbacks: 0,
        }
    }

    async fn connection(&mut self) -> Result<&mut Connection, DriverError> {
        if self.connection.as_ref().is_none_or(Connection::is_closed) {
            self.lose_connection();
            self.connection = Some(self.connector.open(WRITER).await?);
        }
        self.connection.as_mut().ok_or_else(|| DriverError::Lost("there is no connection".into()))
    }

    /// Drops the connection and its state on the server: the transaction, locks and answers.
    fn lose_connection(&mut self) {
        self.connection = None;
        self.in_transaction = false;
        self.locks.end();
        self.sent.clear();
        self.ahead.clear();
        self.sent_note = None;
    }

    /// Sends a statement and returns its pending answer.
    async fn ask_for(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<Answer, DriverError> {
        match &mut self.connection {
            Some(connection) => connection.send(sql, parameters).await,
            None => Err(DriverError::Lost("the connection was lost".into())),
        }
    }

    /// Sends a statement whose answer is read later.
    async fn send(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<(), DriverError> {
        let answer = self.ask_for(sql, parameters).await?;
        self.sent.push(answer);
        Ok(())
    }

    /// Sends the buffered writes.
    async fn flush(&mut self) -> Result<(), DriverError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        for (sql, parameters) in self.unsent.take(&mut self.statement_cache) {
            self.send_write(&sql, parameters).await?;
        }
        Ok(())
    }

    /// Sends a statement that writes and is not the last of its batch.
    async fn send_write(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<(), DriverError> {
        // Queries sent before this write do not see it.
        self.ahead.clear();
        if !self.in_transaction {
            self.begin_transaction().await?;
        }
        self.send(sql, parameters).await
    }

    /// Waits for the answers to everything sent since the last commit.
    async fn answers(&mut self) -> Result<(), DriverError> {
        first_trouble(std::mem::take(&mut self.sent)).await
    }

    /// Returns the result of a transaction that failed before its commit.
    async fn before_commit(&mut self, error: DriverError) -> SqlError {
        self.unsent.clear();
        self.ahead.clear();
        let error = self.answers().await.err().unwrap_or(error);
        self.note_setback(&error);
        error.before_commit()
    }

    /// Returns the outcome of a step before the commit of a transaction.
    async fn checked<T>(&mut self, outcome: Result<T, DriverError>) -> Result<T, SqlError> {
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(self.before_commit(error).await),
        }
    }

    fn note_setback(&mut self, error: &DriverError) {
        self.setbacks += 1;
        if error.is_lost() {
            self.lose_connection();
        }
    }

    /// Sends the buffered writes, before a statement that relies on them.
    async fn send_all(&mut self) -> Result<(), SqlError> {
        let sent = self.flush().await;
        self.checked(sent).await
    }

    /// Sends a statement after all writes before it.
    async fn write_next(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<(), SqlError> {
        self.send_all().await?;
        let sent = self.send_write(sql, parameters).await;
        self.checked(sent).await
    }
}

/// Waits for all answers. Returns the first error, which is the cause of the later ones.
async fn first_trouble(sent: Vec<Answer>) -> Result<(), DriverError> {
    let mut first_trouble = None;
    for answer in sent {
        first_trouble = first_trouble.or(answer.await.err());
    }
    first_trouble.map_or(Ok(()), Err)
}

#[async_trait]
impl Session for WriterSession {
    fn is_alone(&self) -> bool {
        false
    }

    async fn begin(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<TransactionContext, SqlError> {
        self.rollback().await?;
        if self.setbacks > 0 {
            #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back, or less busy")]
            tokio::time::sleep((PAUSE * 2_u32.pow(self.setbacks.min(8) - 1)).min(PAUSE_MAX)).await;
        }
        let opened = self.open(partitions, first).await;
        let context = self.checked(opened).await?;
        (self.now, self.setbacks) = (context.now, 0);
        Ok(context)
    }

    async fn put(&mut self, table: &'static Table, rows: Vec<Put>) -> Result<(), SqlError> {
        if [LANE.name, QUOTA_SET.name, FEED.name].contains(&table.name) {
            self.locks.forget_server_state();
        }
        self.unsent.put(table, rows);
        Ok(())
    }

    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError> {
        let request = Request::delete(&mut self.statement_cache, table, keys);
        self.write_next(&request.sql, request.parameters).await
    }

    async fn remove(&mut self, table: &'static Table, keys: Vec<Key>) -> Result<(), SqlError> {
        self.unsent.remove(table, keys);
        Ok(())
    }

    async fn note_pending_ends(&mut self, outbox_changes: &OutboxChanges) -> Result<(), SqlError> {
        for (sql, parameters) in outbox::requests(outbox_changes, self.now) {
            let sql = self.statement_cache.alone(sql);
            self.write_next(&sql, parameters).await?;
        }
        Ok(())
    }

    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        self.commit_and_notify(hints).await
    }

    async fn confirm(&mut self) -> Result<(), SqlError> {
        self.confirm_commit().await
    }

    fn begins_at_once(&self, partitions: &[u16]) -> bool {
        self.setbacks == 0 && self.may_hold() && self.sent_note.is_none() && self.locks.cover(partitions)
    }

    async fn rollback(&mut self) -> Result<(), SqlError> {
        self.unsent.clear();
        self.ahead.clear();
        if !std::mem::take(&mut self.in_transaction) {
            return Ok(());
        }
        // The answers to undone statements must not count for the next commit.
        self.sent.clear();
        if self.connection.is_some()
            && let Err(error) = self.send("ROLLBACK", vec![]).await
        {
            // The server has undone the transaction of a lost connection.
            tracing::debug!(why = error.why(), "a transaction ended with its connection");
            self.lose_connection();
        }
        Ok(())
    }

    async fn idle(&mut self) {
        self.leave_in_time().await;
    }
}
