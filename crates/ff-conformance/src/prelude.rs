//! Imports for the conformance tests: the records, and the world.

pub(crate) use crate::records::*;
pub(crate) use crate::refused::assert_refused;
pub(crate) use crate::world::{
    Contents, Flow, Graph, LeasedExecution, Submission, Waitpoint, Worker, World, labels, ms,
};
