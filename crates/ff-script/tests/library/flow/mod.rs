//! Flows: every refusal of their functions, their keys, the published call, and the effects of a step.

mod keyspace;
mod published;
mod refusals;
mod scene;
mod steps;

pub(crate) use refusals::tried;
pub(crate) use scene::{Scene, Stand, graph};
