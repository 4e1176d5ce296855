//! What requests may contain: values, ids and sizes.

mod bad_input;
pub(crate) mod bodies;
mod ids;
mod limits;
