//! The room of flows, on Valkey.

mod list;
mod read;

use std::collections::HashSet;

use async_trait::async_trait;
use ff_core::backend::{Answer, FlowRoom};
use ff_core::contracts::{
    CancelFlowArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled, FlowEdgesArgs,
    FlowEventsArgs, FlowEventsPage, FlowHeader, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown,
    ListFlowsArgs, MembersPage, NodeSpec, SetFlowTagsArgs, StageFlowArgs, StagedFlow, SubmitFlowArgs, SubmittedFlow,
    TaggedFlow, WaitForChildrenArgs, WaitedForChildren,
};
use ff_core::engine_error::EngineError;
use ff_core::partition::flow_partition;
use ff_core::types::{ExecutionId, FlowId, Namespace};
use ff_script::flow::{
    FlowLook, ff_cancel_flow, ff_close_flow, ff_create_flow, ff_grow_flow, ff_move_to_waiting_children,
    ff_set_flow_tags, ff_submit_flow,
};

use crate::ValkeyBackend;
use crate::cascade::run_cascade;
use crate::directory::Entry;

#[async_trait]
impl FlowRoom for ValkeyBackend {
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        let (header, entries) =
            (args.header.clone(), self.entries(&args.header.flow_id, &args.header.namespace, &args.nodes));
        let parts = args.plan()?;
        self.listed(&header, entries, self.submit_parts(parts)).await
    }

    async fn create_flow(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        let args = self.checked(args)?;
        let header = args.header.clone();
        let created = async { Ok(ff_create_flow(&*self.calls, &self.partitions, args).await?) };
        self.listed(&header, vec![], created).await
    }

    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown> {
        let args = self.checked(args)?;
        self.list_newcomers(&args).await?;
        Ok(ff_grow_flow(&*self.calls, &self.partitions, args).await?)
    }

    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow> {
        Ok(ff_close_flow(&*self.calls, &self.partitions, self.checked(args)?).await?)
    }

    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        Ok(ff_cancel_flow(&*self.calls, &self.partitions, self.checked(args)?).await?)
    }

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow> {
        Ok(ff_set_flow_tags(&*self.calls, &self.partitions, self.checked(args)?).await?)
    }

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo> {
        Ok(self.flow(id, FlowLook::default()).await?.info())
    }

    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        self.members_page(args).await
    }

    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        self.edges_page(args).await
    }

    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        self.flows_page(args).await
    }

    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.events_page(args).await
    }

    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren> {
        Ok(ff_move_to_waiting_children(&*self.calls, self.checked(args)?).await?)
    }

    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded> {
        run_cascade(self, id).await
    }
}

impl ValkeyBackend {
    /// Hands a flow in, part after part. Parts that came before, with a submission that broke off, are not sent again.
    async fn submit_parts(&self, parts: Vec<StageFlowArgs>) -> Answer<SubmittedFlow> {
        let mut next = 0;
        for part in parts {
            if part.part < next {
                continue;
            }
            match ff_submit_flow(&*self.calls, &self.partitions, self.checked(part)?).await? {
                StagedFlow::Submitted(submitted) => return Ok(submitted),
                StagedFlow::Staged { next_part } => next = next_part,
            }
        }
        Err(EngineError::Corrupt("the last part of a flow did not complete it".into()))
    }

    /// Makes sure that listings look where a flow lives, before and after it is made: making it may have found a server
    /// that had lost everything.
    async fn listed<T>(
        &self,
        header: &FlowHeader,
        mut entries: Vec<Entry>,
        made: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        let partition = flow_partition(&header.flow_id, &self.partitions).index;
        entries.push(Entry::Tenant(header.namespace.clone(), partition));
        self.calls.directory.note(&self.calls, &entries).await?;
        let made = made.await?;
        let listed = self.calls.directory.note(&self.calls, &entries).await;
        listed.map(|()| made).map_err(|error| EngineError::Unknown(error.to_string()))
    }

    /// What directories say of members, each thing once.
    fn entries(&self, flow: &FlowId, namespace: &Namespace, nodes: &[NodeSpec]) -> Vec<Entry> {
        let partition = flow_partition(flow, &self.partitions).index;
        let all = nodes.iter().flat_map(|node| Entry::of(namespace, &node.lane, &node.tags, partition));
        all.collect::<HashSet<_>>().into_iter().collect()
    }

    /// Makes sure that searches look for what is added to a flow. Whose it is, the flow says; one that is not there is left to
    /// be refused.
    async fn list_newcomers(&self, args: &GrowFlowArgs) -> Answer<()> {
        if args.nodes.is_empty() {
            return Ok(());
        }
        let namespace = match self.describe_flow(&args.flow_id).await {
            Ok(info) => info.namespace,
            Err(EngineError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.calls.directory.note(&self.calls, &self.entries(&args.flow_id, &namespace, &args.nodes)).await
    }
}
