//! The operations of a store for the executor, in its own dialect and over its own driver. The traits are used as
//! objects, so that the executor is compiled once and not again for every store.

use std::future::pending;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::hint::Hint;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::error::SqlError;
use crate::flow::OutboxChanges;
use crate::table::{Columns, Table};
use crate::value::{Row, Value};

/// The values of a row's key columns.
pub type Key = Vec<Value>;

/// A request to a reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Rows by their keys.
    Rows(&'static Table, Columns, Vec<Key>),
    /// A query with sets of parameters.
    Query(&'static str, Vec<Vec<Value>>),
}

/// Reads rows, all of them as of one moment.
#[async_trait]
pub trait Read: Send {
    /// Whether announcing the next loads makes them faster.
    fn asks_ahead(&self) -> bool {
        false
    }

    /// Announces the next requests, in this order, so that they can be sent before the first answer is there.
    async fn ask_ahead(&mut self, _next: Vec<Load>) -> Result<(), SqlError> {
        Ok(())
    }

    /// The wanted columns of the row under each key, in the order of the keys; nothing where there is no row.
    async fn load(
        &mut self,
        table: &'static Table,
        wanted: Columns,
        keys: &[Key],
    ) -> Result<Vec<Option<Row>>, SqlError>;

    /// Runs one query with each of several sets of parameters, and gives the rows of each. The text is the same for every
    /// store; its parameters are `$1`, `$2` and so on, in the order they first appear.
    async fn query(&mut self, sql: &'static str, parameters: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError>;
}

/// A connection that writes: one transaction at a time.
#[async_trait]
pub trait Session: Read {
    /// Whether this is the store's only writer: then lanes and feeds it has read stay valid until it changes them
    /// itself.
    fn is_alone(&self) -> bool;

    /// Opens a transaction that holds these partitions until it ends, and returns its context. The first requests may
    /// be sent along with it. One that began at once, and has written nothing, may be begun again on more partitions that it
    /// begins on at once; its context is that of a later moment then.
    async fn begin(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<TransactionContext, SqlError>;

    /// Writes rows, no two of them under one key, over those already there.
    async fn put(&mut self, table: &'static Table, rows: Vec<Put>) -> Result<(), SqlError>;

    /// Deletes the rows whose keys begin with these values, all of them of one length, before anything that is put afterwards.
    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError>;

    /// Deletes the rows under these whole keys. No row under them is written in the same transaction, so a store may do this
    /// together with its other writes.
    async fn remove(&mut self, table: &'static Table, keys: Vec<Key>) -> Result<(), SqlError> {
        self.delete(table, &keys).await
    }

    /// Takes note of how the transaction changes which ends are owed to dependents. The records say so already, so a store
    /// need not keep it anywhere else.
    async fn note_pending_ends(&mut self, _changes: &OutboxChanges) -> Result<(), SqlError> {
        Ok(())
    }

    /// Whether a transaction on these partitions can begin before the commit of the last one is confirmed.
    fn begins_at_once(&self, _partitions: &[u16]) -> bool {
        false
    }

    /// Has everything since `begin` made durable, and the hints passed on once it is. An error leaves it open whether it
    /// happened, except for [`SqlError::Undone`]. A store that need not wait for it says in `confirm` what became of it.
    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError>;

    /// Waits until the last commit is durable, and fails as `commit` does. Safe to cancel.
    async fn confirm(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    /// Undoes everything since `begin`.
    async fn rollback(&mut self) -> Result<(), SqlError>;

    /// Gives back in time what it kept for the next transaction, while there is nothing to do. It is stopped as soon as there
    /// is.
    async fn rest(&mut self) {
        pending().await
    }
}

/// The state of the store when a transaction begins. Most stores are never followed and have no configured lane; a
/// store that says so saves looking for feeds and lanes in every batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionContext {
    /// The time of the whole transaction.
    pub now: TimestampMs,
    /// Whether any of its partitions may be followed.
    pub is_followed: bool,
    /// Whether any lane may be configured on them.
    pub has_lanes: bool,
    /// Whether any quota policy may be known to them.
    pub has_quotas: bool,
    /// Identifies the period during which the session keeps the locks of partitions beyond a transaction; none when it
    /// does not. During it, no other session writes to the partitions of its transactions.
    pub lock_session: Option<u64>,
}

/// A row to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Every column. Of a row that is there, only the columns that change are of use.
    pub row: Row,
    /// The row it replaces.
    pub over: Over,
}

/// The stored row that a new one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// No row: there is none under its key.
    Nothing,
    /// A row that may be there.
    Unknown,
    /// A row that is there and differs in these columns. A store writes no others.
    Known(Columns),
}

impl Put {
    /// A row that is not there.
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self { row: Row::new(values), over: Over::Nothing }
    }

    /// A row that may be there.
    pub(crate) fn whole(values: Vec<Value>) -> Self {
        Self { row: Row::new(values), over: Over::Unknown }
    }

    /// A row in the place of one whose values are known, where there is one.
    pub(crate) fn over(before: Option<Vec<Value>>, values: Vec<Value>) -> Self {
        let differing = |before: Vec<Value>| (0..values.len()).filter(|at| before[*at] != values[*at]).collect();
        let over = before.map_or(Over::Unknown, |before| Over::Known(differing(before)));
        Self { row: Row::new(values), over }
    }
}

/// Something to be read, as a value, so that a store can carry it to where its readers are.
#[async_trait]
pub trait Question: Send + 'static {
    /// The type of its answer.
    type Answer: Send + 'static;

    /// Whether the answer depends on what time it is.
    const IS_TIMED: bool = false;

    /// Finds the answer.
    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Self::Answer>;
}

/// The conditions under which a question is answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadContext {
    /// The partitions there are.
    pub partitions: PartitionConfig,
    /// The time, for questions that depend on it.
    pub now: TimestampMs,
}

/// The key of an execution's row and of its side rows.
pub(crate) fn key_of(id: &ExecutionId) -> Key {
    vec![Value::Uuid(id.uuid()), id.partition().into()]
}

/// Stores rows, if there are any, and returns whether there were.
pub(crate) async fn put_all(
    session: &mut dyn Session,
    table: &'static Table,
    rows: Vec<Put>,
) -> Result<bool, SqlError> {
    if rows.is_empty() {
        return Ok(false);
    }
    session.put(table, rows).await?;
    Ok(true)
}

/// Deletes rows by their keys, if there are any, and returns whether there were.
pub(crate) async fn delete_all(
    session: &mut dyn Session,
    table: &'static Table,
    keys: Vec<Key>,
) -> Result<bool, SqlError> {
    if keys.is_empty() {
        return Ok(false);
    }
    session.delete(table, &keys).await?;
    Ok(true)
}
