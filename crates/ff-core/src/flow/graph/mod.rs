//! The graph of a flow: the ids of its members and edges, how it is submitted, and what may be added to it.

mod build;
mod cycle;
mod identity;
mod plan;

pub(in crate::flow) use build::{Accepts, NewEdge, Newcomers};
pub use identity::{edge_id, member_id};
