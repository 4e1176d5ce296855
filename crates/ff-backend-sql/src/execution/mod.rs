//! The room of executions: their rows, and what is read of them.

mod body;
mod label;
mod list;
mod read;
mod row;
mod walk;

pub(crate) use body::{body_of, read_body, read_body_at};
pub(crate) use label::{key_of_label, labels_of, labels_put_and_deleted};

pub(crate) use read::namespace_in;
pub(crate) use read::{attempts_of, found, leases_of};
pub(crate) use row::{STAGED, lane_of, put, strays};
