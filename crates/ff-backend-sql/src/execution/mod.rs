//! The room of executions: their rows, and what is read of them.

mod body;
mod list;
mod read;
mod row;

pub(crate) use body::{body_of, read_body};
pub use list::List;
pub use read::{Describe, ReadAttempts, ReadPayload, ReadResult};
pub(crate) use read::{attempts_of, found, leases_of};
pub(crate) use row::{STAGED, lane_of, put, strays};
