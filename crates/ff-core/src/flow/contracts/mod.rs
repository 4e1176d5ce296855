//! What callers ask of a flow, and what they are told.

mod cancelling;
mod children;
mod graph;
mod growing;
mod inputs;
mod listing;
mod reading;
mod staging;

pub use cancelling::{CancelFlowArgs, FlowCancelled};
pub use children::{WaitForChildrenArgs, WaitedForChildren};
pub use graph::{EdgeSpec, FlowHeader, NodeSpec, SubmitFlowArgs, SubmittedFlow};
pub use growing::{
    CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, GrowFlowArgs, Grown, GrownEdge, JoinSpec,
    MemberRef, SetFlowTagsArgs, TaggedFlow,
};
pub use inputs::{Input, TaskFlow};
pub use listing::{FlowCursor, FlowsPage, ListFlowsArgs};
pub use reading::{
    EdgeInfo, EdgesPage, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, GroupInfo,
    MemberInfo, MembersPage,
};
pub use staging::{StageFlowArgs, StagedFlow};
