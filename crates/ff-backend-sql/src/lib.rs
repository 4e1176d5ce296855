//! What every SQL store shares: everything but the driver and the dialect.
//!
//! Callers queue operations; a free writer takes whatever is queued, decides it by the rules over the records it loads,
//! writes each table once and commits once. A store brings a [`Session`]: how rows are loaded, written and committed.

mod batch;
mod desk;
mod error;
mod execution;
mod lease;
mod queries;
mod queue;
mod record;
mod schema;
mod session;
mod table;
mod upkeep;
mod value;
mod writer;

pub use batch::{Answered, TakenUp, execute};
pub use error::SqlError;
pub use execution::{Describe, List, ReadAttempts, ReadPayload, ReadResult};
pub use queries::QUERIES;
pub use queue::{Asker, Queue, queue};
pub use schema::{ATTEMPT, EXECUTION, IDEMPOTENCY, LEASE_EVENT, PAYLOAD, RESULT, TABLES};
pub use session::{Key, Put, Question, Read, Session};
pub use table::{Column, Columns, Holds, Table};
pub use upkeep::{Sweep, TakeSnapshot};
pub use value::{Row, Value};
pub use writer::write;
