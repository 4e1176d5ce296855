//! The graph of a flow: what its members and edges are called, how it is handed in, and what may be added to it.

mod build;
mod cycle;
mod identity;
mod plan;

pub(in crate::flow) use build::{Accepts, NewEdge, Newcomers};
pub use identity::{edge_id, member_id};
