//! The room of flows.

use async_trait::async_trait;

use super::Answer;
use crate::flow::contracts::{
    CancelFlowArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled, FlowEdgesArgs,
    FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown, ListFlowsArgs,
    MembersPage, SetFlowTagsArgs, SubmitFlowArgs, SubmittedFlow, TaggedFlow, WaitForChildrenArgs, WaitedForChildren,
};
use crate::types::{ExecutionId, FlowId};

/// What callers may ask about flows. Every mutation is safe to repeat. A member is replayed, cancelled and read as the
/// execution it is.
#[async_trait]
pub trait FlowRoom: Send + Sync {
    /// Submits a whole graph, all or nothing: nobody sees any of it until all of it is there.
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow>;

    /// Makes a flow without members, which stays open until it is closed.
    async fn create_flow(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow>;

    /// Adds members and edges to a flow that lives, all of them or none.
    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown>;

    /// Lets a flow end with its last member.
    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow>;

    /// Stops a flow. Once this is answered, nothing starts that the policy does not spare.
    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled>;

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow>;

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo>;

    /// The members of a flow, in the order they were added.
    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage>;

    /// The edges of a flow, in the order of their ids.
    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage>;

    /// Lists flows, newest first.
    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage>;

    /// What happened in a flow since. Answers at once, with what there is.
    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage>;

    /// A holder lets go until the members it added have ended as its join asks.
    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren>;

    /// Tells the dependents of an execution that has ended, as far as one step goes. They are told by themselves; this is
    /// for whoever does not want to wait, or does not trust it.
    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded>;
}
