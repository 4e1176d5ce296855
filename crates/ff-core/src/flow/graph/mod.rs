//! The graph of a flow: the ids of its members and edges, its submission, and its growth.

mod build;
mod cycle;
mod identity;
mod plan;

pub(in crate::flow) use build::{EdgeRule, MemberOrigin, ResolvedEdge};
pub use identity::{edge_id, member_id};
