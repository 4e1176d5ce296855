//! The room of flows, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{DescribeFlow, ListFlows, ReadFlowEdges, ReadFlowEvents, ReadFlowMembers};
use ff_core::backend::{Answer, EngineBackend, FlowRoom};
use ff_core::contracts::{
    CancelFlowArgs, CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled,
    FlowEdgesArgs, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown,
    ListFlowsArgs, MembersPage, SetFlowTagsArgs, SubmitFlowArgs, SubmittedFlow, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use ff_core::types::{ExecutionId, FlowId};

use crate::PostgresBackend;

#[async_trait]
impl FlowRoom for PostgresBackend {
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        self.writers.asker.submit_flow(args).await
    }

    async fn create_flow(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        self.writers.asker.ask(args).await
    }

    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown> {
        self.writers.asker.ask(args).await
    }

    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow> {
        self.writers.asker.ask(args).await
    }

    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        self.writers.asker.ask(args).await
    }

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow> {
        self.writers.asker.ask(args).await
    }

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo> {
        self.readers.read(DescribeFlow { flow_id: *id, partitions: self.partitions() }).await
    }

    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        args.check()?;
        self.readers.read(ReadFlowMembers { args, partitions: self.partitions() }).await
    }

    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        args.check()?;
        self.readers.read(ReadFlowEdges { args, partitions: self.partitions() }).await
    }

    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        args.check()?;
        self.readers.read(ListFlows(args)).await
    }

    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        args.check()?;
        self.readers.read(ReadFlowEvents { args, partitions: self.partitions() }).await
    }

    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren> {
        self.writers.asker.ask(args).await
    }

    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded> {
        self.writers.asker.ask(CascadeArgs { execution_id: *id, owed_since: None }).await
    }
}
