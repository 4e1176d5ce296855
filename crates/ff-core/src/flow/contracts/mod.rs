//! Arguments and replies about flows.

mod graph;
mod inputs;
mod listing;
mod reading;

pub use super::cancel::{CancelFlowArgs, FlowCancelled};
pub use super::cascade::{CascadeArgs, CascadeStep};
pub use super::children::{WaitForChildrenArgs, WaitedForChildren};
pub use super::close::{CloseFlowArgs, ClosedFlow};
pub use super::create::{CreateFlowArgs, SubmittedFlow};
pub use super::grow::GrowFlowArgs;
pub use super::record::GrownFlow;
pub use super::stage::{StageFlowArgs, StagedFlow};
pub use super::tag::{SetFlowTagsArgs, TaggedFlow};
pub(super) use graph::check_call;
pub use graph::{EdgeAddition, EdgeSpec, FlowHeader, JoinSpec, MemberRef, NodeSpec, SubmitFlowArgs};
pub use inputs::{Input, TaskFlow};
pub use listing::{FlowCursor, FlowsPage, ListFlowsArgs};
pub use reading::{
    EdgeInfo, EdgesPage, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, GroupInfo,
    MemberInfo, MembersPage,
};
