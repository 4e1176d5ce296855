//! What requests may contain: values, ids and sizes.

mod bad_input;
pub(crate) mod bodies;
mod flow_bodies;
mod ids;
mod limits;
mod operator_bodies;
