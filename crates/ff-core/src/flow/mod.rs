//! Flows: graphs of executions. A flow ends by itself when its last member ends.

mod cancel;
mod cascade;
mod children;
mod close;
pub mod contracts;
mod create;
#[cfg(test)]
pub(crate) mod fixture;
mod graph;
mod grow;
mod record;
mod replay;
mod stage;
mod step;
mod tag;

pub use graph::{edge_id, member_id};
pub use record::{
    CancelPolicy, Counts, Edge, EdgeState, Flow, FlowCancel, FlowChange, FlowEvent, FlowEventKind, FlowIndex,
    FlowKeyEntry, FlowState, Group, GroupState, Join, MemberSweep, Membership, OnSatisfied, PassMode,
    PendingPropagation, Propagation, Siblings, Staging, SweepAction, entries, grace_ends,
};
pub(crate) use replay::replay;
pub(crate) use step::{Step, follow};
pub use step::{StepOutcome, edges_to_notify};
