//! The room of flows, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, FlowRoom};
use ff_core::contracts::{
    CancelFlowArgs, CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled,
    FlowEdgesArgs, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown,
    ListFlowsArgs, MembersPage, SetFlowTagsArgs, SubmitFlowArgs, SubmittedFlow, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use ff_core::types::{ExecutionId, FlowId};

use super::list::ListFlows;
use super::read::{DescribeFlow, ReadFlowEdges, ReadFlowEvents, ReadFlowMembers};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> FlowRoom for SqlStore<D> {
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        self.writer().submit_flow(args).await
    }

    async fn create_flow(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        self.writer().ask(args).await
    }

    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown> {
        self.writer().ask(args).await
    }

    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow> {
        self.writer().ask(args).await
    }

    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        self.writer().ask(args).await
    }

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow> {
        self.writer().ask(args).await
    }

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo> {
        self.read(DescribeFlow { flow_id: *id, partitions: self.driver().partitions() }).await
    }

    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        args.check()?;
        self.read(ReadFlowMembers { args, partitions: self.driver().partitions() }).await
    }

    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        args.check()?;
        self.read(ReadFlowEdges { args, partitions: self.driver().partitions() }).await
    }

    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        args.check()?;
        self.read(ListFlows(args)).await
    }

    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        args.check()?;
        self.read(ReadFlowEvents { args, partitions: self.driver().partitions() }).await
    }

    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren> {
        self.writer().ask(args).await
    }

    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded> {
        self.writer().ask(CascadeArgs { execution_id: *id, owed_since: None }).await
    }
}
