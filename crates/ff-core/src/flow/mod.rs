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

pub use cancel::cancel;
pub use cascade::cascade;
pub use children::wait_for_children;
pub use close::close;
pub use create::create;
pub use graph::{edge_id, member_id};
pub use grow::grow;
pub use record::{
    CancelPolicy, Counts, Edge, EdgeState, Errand, Flow, FlowCancel, FlowChange, FlowEvent, FlowIndex, FlowKeyEntry,
    FlowState, FlowWhat, Group, GroupState, Join, Membership, OnSatisfied, Owed, Owes, Passing, Siblings, Staging,
    Tour, entries, grace_ends,
};
pub use replay::replay;
pub use stage::stage;
pub use step::{Settled, edges_to_tell};
pub(crate) use step::{Step, follow};
pub use tag::set_tags;
