//! What an operator does: find executions, label and reorder them, act on many, run lanes, see workers, manage keys, and
//! follow what happens.

mod bulk;
mod event;
mod execution;
mod lane;
mod search;

pub use bulk::{Bulk, BulkDone};
pub use event::Events;
pub use lane::LaneHandle;
pub use search::{Found, Search};
