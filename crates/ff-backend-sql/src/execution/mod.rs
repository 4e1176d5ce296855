//! The domain of executions: their rows, and what is read of them.

mod read;
mod row;
mod search;

pub(crate) use read::{attempts_of, found, leases_of, namespace_in};
pub(crate) use row::{
    STAGED, body_of, key_of_label, labels_of, labels_put_and_deleted, lane_of, put, read_body, read_body_at, strays,
};
