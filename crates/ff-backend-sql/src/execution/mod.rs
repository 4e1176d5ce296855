//! The domain of executions: their rows and queries.

mod body;
mod entries;
mod read;
mod row;
mod search;
mod submission;

pub(crate) use body::{Body, body_values, read_body_at};
pub(crate) use entries::{
    NARROW_TABLES, USAGE_BACKLOG, class_of_queue, class_word, key_of_tag_row, reason_as_tag, state_as_tag,
    unroutable_class,
};
pub(crate) use read::{attempts_of, found, last_attempts_of, leases_of, namespace_in};
pub(crate) use row::{STAGED, lane_of, put, read_execution, stored_execution, strays};
pub(crate) use submission::{changed_submission, new_submission};
