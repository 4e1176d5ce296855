//! The operations of a store that the executor needs, implemented by each store over its dialect and driver. The traits are used
//! as objects, so that the executor is compiled once and not for every store.

use std::future::pending;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::backend::hint::Hint;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, TimestampMs};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SqlError;
use crate::flow::OutboxChanges;
use crate::table::record;
use crate::table::value::{Row, Value};
use crate::table::{Columns, Table};

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

/// A reader of rows. All its reads see one snapshot.
#[async_trait]
pub trait Read: Send {
    /// Returns whether announcing the next loads makes them faster.
    fn asks_ahead(&self) -> bool {
        false
    }

    /// Announces the next requests, in order, so that they can be sent before the first answer arrives.
    async fn ask_ahead(&mut self, _next: Vec<Load>) -> Result<(), SqlError> {
        Ok(())
    }

    /// Answers a request: returns the rows of each key or set of parameters, in their order.
    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError>;

    /// Loads the wanted columns of the row under each key, in the order of the keys. Returns none for a key without a row. Without
    /// keys, nothing is requested.
    async fn load(
        &mut self,
        table: &'static Table,
        wanted: Columns,
        keys: &[Key],
    ) -> Result<Vec<Option<Row>>, SqlError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.answer(Load::Rows(table, wanted, keys.to_vec())).await?;
        Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
    }

    /// Runs a query with each set of parameters, and returns the rows of each. The text is the same for every store. Its
    /// parameters are `$1`, `$2` and so on, in the order of their first appearance. Without sets, nothing is requested.
    async fn query(&mut self, sql: &'static str, parameters: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError> {
        if parameters.is_empty() {
            return Ok(Vec::new());
        }
        self.answer(Load::Query(sql, parameters.to_vec())).await
    }
}

/// A connection that writes. It has one transaction at a time.
#[async_trait]
pub trait Session: Read {
    /// Returns whether this is the store's only writer. Then the lanes, quotas and feeds it has read stay valid until it changes
    /// them itself.
    fn is_alone(&self) -> bool;

    /// Begins a transaction that locks these partitions until it ends, and returns its context. The `first` requests may be sent
    /// with it. A transaction that began at once and has written nothing may be begun again on more partitions, if it begins on
    /// them at once too; its context is then that of a later time.
    async fn begin(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<TransactionContext, SqlError>;

    /// Writes rows over those already stored. No two of them have the same key.
    async fn put(&mut self, table: &'static Table, rows: Vec<Put>) -> Result<(), SqlError>;

    /// Deletes the rows whose keys begin with these values, which all have one length. Happens before any later `put`.
    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError>;

    /// Deletes the rows under these whole keys. The same transaction writes no row under them, so a store may delete them
    /// together with its other writes.
    async fn remove(&mut self, table: &'static Table, keys: Vec<Key>) -> Result<(), SqlError> {
        self.delete(table, &keys).await
    }

    /// Records the transaction's changes of pending ends. They also follow from the records, so a store need not keep them.
    async fn note_pending_ends(&mut self, _changes: &OutboxChanges) -> Result<(), SqlError> {
        Ok(())
    }

    /// Returns whether a transaction on these partitions can begin before the last commit is confirmed.
    fn begins_at_once(&self, _partitions: &[u16]) -> bool {
        false
    }

    /// Commits everything since `begin` durably, and then passes on the hints. After an error the outcome is unknown, except for
    /// [`SqlError::Undone`]. A store may return before the commit is durable and report its outcome in `confirm`.
    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError>;

    /// Waits until the last commit is durable, and fails like `commit`. Safe to cancel.
    async fn confirm(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    /// Undoes everything since `begin`.
    async fn rollback(&mut self) -> Result<(), SqlError>;

    /// Releases in time the locks that the session keeps for the next transaction. Runs while no operation is queued, and is
    /// cancelled when one arrives.
    async fn idle(&mut self) {
        pending().await
    }
}

/// The state of the store when a transaction begins. Most stores have no followed feed, no configured lane and no quota. If a
/// store reports that, its batches do not load them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionContext {
    /// The time of the whole transaction.
    pub now: TimestampMs,
    /// Whether any of its partitions may have a followed feed.
    pub is_followed: bool,
    /// Whether any lane may be configured on its partitions.
    pub has_lanes: bool,
    /// Whether its partitions may have any quota policy.
    pub has_quotas: bool,
    /// The number of the period in which the session keeps partition locks beyond a transaction; none if it keeps none. In this
    /// period no other session writes to the partitions of its transactions.
    pub lock_session: Option<u64>,
}

/// A row to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Every column. If the stored row is known, only the changed columns are used.
    pub row: Row,
    /// The stored row that it replaces.
    pub over: Over,
}

/// The stored row that a new one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// No row exists under its key.
    Nothing,
    /// A row may exist.
    Unknown,
    /// A row exists and differs in these columns. A store writes only them.
    Known(Columns),
}

impl Put {
    /// Creates a row whose key is not stored.
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self { row: Row::new(values), over: Over::Nothing }
    }

    /// Creates a row whose key may be stored.
    pub(crate) fn whole(values: Vec<Value>) -> Self {
        Self { row: Row::new(values), over: Over::Unknown }
    }

    /// Creates a row of a key, which may be stored, and further values.
    pub(crate) fn under(key: Key, values: impl IntoIterator<Item = Value>) -> Self {
        Self::whole(longer(key, values))
    }

    /// Creates a row of a key, which may be stored, and a record.
    pub(crate) fn record(key: Key, record: &impl Serialize) -> Result<Self, SqlError> {
        Ok(Self::under(key, [record::written(record)?]))
    }

    /// Creates a row that replaces one with the values `before`, if they are known.
    pub(crate) fn over(before: Option<Vec<Value>>, values: Vec<Value>) -> Self {
        let differing = |before: Vec<Value>| (0..values.len()).filter(|at| before[*at] != values[*at]).collect();
        let over = before.map_or(Over::Unknown, |before| Over::Known(differing(before)));
        Self { row: Row::new(values), over }
    }
}

/// A question to readers. It is a value, so that a store can send it to its readers.
#[async_trait]
pub trait Question: Send + 'static {
    /// The type of the answer.
    type Answer: Send + 'static;

    /// Whether the answer depends on the time.
    const IS_TIMED: bool = false;

    /// Answers the question.
    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Self::Answer>;
}

/// The conditions under which a question is answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadContext {
    /// The partitions of the store.
    pub partitions: PartitionConfig,
    /// The time, for questions that depend on it.
    pub now: TimestampMs,
}

/// Returns the key of an execution's row and the prefix of the keys of its side rows.
pub(crate) fn key_of(id: &ExecutionId) -> Key {
    vec![Value::Uuid(id.uuid()), id.partition().into()]
}

/// Returns a key with more columns.
pub(crate) fn longer(mut key: Key, more: impl IntoIterator<Item = Value>) -> Key {
    key.extend(more);
    key
}

/// Loads the record of a row, if the row exists.
pub(crate) async fn load_record<T: DeserializeOwned>(
    reader: &mut dyn Read,
    table: &'static Table,
    key: Key,
) -> Result<Option<T>, SqlError> {
    let rows = reader.load(table, table.named(&["record"]), &[key]).await?;
    rows.iter().flatten().next().map(|row| record::read(row.text(0)?)).transpose()
}

/// Writes rows, and returns whether there were any.
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

/// Deletes rows by their keys, and returns whether there were any.
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
