//! Flows: graphs of executions that finish themselves.

mod cancel;
mod cascade;
mod children;
mod close;
pub mod contracts;
mod create;
mod graph;
mod grow;
#[cfg(test)]
pub(crate) mod playground;
mod record;
mod replay;
mod stage;
mod step;
mod tag;

pub use graph::{edge_id, member_id};
pub use record::{
    CancelPolicy, Counts, Edge, EdgeState, Errand, Flow, FlowCancel, FlowChange, FlowEvent, FlowIndex, FlowKeyEntry,
    FlowState, FlowWhat, Group, GroupState, Join, Membership, OnSatisfied, Owed, Owes, Passing, Siblings, Staging,
    Tour, entries, grace_ends,
};
pub(crate) use replay::replay;
pub use step::{Settled, edges_to_tell};
pub(crate) use step::{Step, follow};
