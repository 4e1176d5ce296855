//! The part that all SQL stores share: everything but the driver and the dialect.
//!
//! Callers queue operations. A free writer takes all queued operations, decides them by the rules over the records it loads,
//! writes each table once and commits once. [`SqlStore`] implements the store traits over that. Each database implements a
//! [`Session`], which loads, writes and commits rows, and a [`Driver`], which has its connections.

mod announcer;
mod api_key;
mod batch;
mod batch_state;
mod budget;
mod engine;
mod error;
mod event;
mod execution;
mod explain;
mod fairness;
mod flow;
mod lane;
mod lease;
mod queries;
mod query_table;
mod queue;
mod quota;
mod schedule;
mod session;
mod signal;
mod singleton;
mod step;
mod store;
mod stream;
mod suspension;
mod table;
#[cfg(test)]
mod test_conditions;
mod worker;
mod writer;

pub use announcer::Announcer;
pub use batch::{QueuedOperation, execute};
pub use batch_state::WriterCache;
pub use error::SqlError;
pub use flow::{OutboxChanges, PendingEnd};
pub use queries::RINGS;
pub use query_table::QUERIES;
pub use queue::{Queue, WriterHandle, queue, queues, shares};
pub use session::{Key, Load, Over, Put, Question, Read, ReadContext, Session, TransactionContext};
pub use store::{Driver, SqlStore};
pub use suspension::missing_rings;
pub use table::schema::{
    API_KEY, ATTEMPT, DELIVERY, DUE, EDGE, EDGE_GROUP, EVENT, EXECUTION, FEED, FLOW, FLOW_EVENT, FLOW_KEY, FRAME,
    IDEMPOTENCY, KEY_QUEUE, KEY_RING, LANE, LEASE, LEASE_EVENT, QUOTA_ROW, QUOTA_SET, READY, SCHEDULE, SIGNAL,
    SIGNAL_KEY, STEP, STREAM, SUBMISSION, SUSPEND_KEY, TABLES, TAG, TURN, TURN_QUEUE, USAGE_REPORT, WAITPOINT, WORKER,
};
pub use table::value::{Row, Value};
pub use table::{Column, ColumnType, Columns, Table, list};
pub use writer::write;
