//! Flows: every refusal of their functions, the keys they are kept under, the call that was published, and what a step does.

mod keyspace;
mod published;
mod refusals;
mod scene;
mod steps;

pub(crate) use refusals::tried;
pub(crate) use scene::{Scene, Stand, graph};
