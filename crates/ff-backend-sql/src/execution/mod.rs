//! The domain of executions: their rows, and what is read of them.

mod body;
mod entries;
mod read;
mod row;
mod search;

pub(crate) use body::{Body, body_values, read_body_at};
pub(crate) use entries::{NARROW_TABLES, UNROUTABLE, USAGE_BACKLOG, key_of_label, label_of_reason, label_of_state};
pub(crate) use read::{attempts_of, found, leases_of, namespace_in};
pub(crate) use row::{STAGED, lane_of, put, strays};
