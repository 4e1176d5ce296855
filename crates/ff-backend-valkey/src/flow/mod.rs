//! The domain of flows, on Valkey.

mod list;
mod read;
pub(crate) mod reconcile;

use std::collections::HashSet;

use ff_core::backend::{Answer, Handle, Perform};
use ff_core::contracts::{
    CancelFlowArgs, CascadeArgs, CascadeStep, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled,
    FlowEdgesArgs, FlowEventsArgs, FlowEventsPage, FlowHeader, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs,
    GrownFlow, ListFlowsArgs, MembersPage, NodeSpec, SetFlowTagsArgs, StageFlowArgs, StagedFlow, SubmittedFlow,
    TaggedFlow, WaitForChildrenArgs, WaitedForChildren,
};
use ff_core::engine_error::EngineError;
use ff_core::operation::query::DescribeFlow;
use ff_core::partition::flow_partition;
use ff_core::types::{FlowId, Namespace};
use ff_script::flow::{
    FlowQuery, ff_cancel_flow, ff_close_flow, ff_create_flow, ff_grow_flow, ff_move_to_waiting_children,
    ff_set_flow_tags, ff_submit_flow,
};

use crate::ValkeyBackend;
use crate::backend::functions;
use crate::cascade::run_cascade;
use crate::directory::Entry;

impl Handle<CreateFlowArgs, SubmittedFlow> for ValkeyBackend {
    async fn handle(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        let header = args.header.clone();
        let created = async { Ok(ff_create_flow(&*self.calls, &self.partitions, args).await?) };
        self.note_and_write(&header, vec![], created).await
    }
}

impl Handle<GrowFlowArgs, GrownFlow> for ValkeyBackend {
    async fn handle(&self, args: GrowFlowArgs) -> Answer<GrownFlow> {
        self.list_newcomers(&args).await?;
        Ok(ff_grow_flow(&*self.calls, &self.partitions, args).await?)
    }
}

impl Handle<StageFlowArgs, StagedFlow> for ValkeyBackend {
    async fn handle(&self, args: StageFlowArgs) -> Answer<StagedFlow> {
        let header = args.header.clone();
        let entries = self.entries(&header.flow_id, &header.namespace, &args.nodes);
        let staged = async { Ok(ff_submit_flow(&*self.calls, &self.partitions, args).await?) };
        self.note_and_write(&header, entries, staged).await
    }
}

functions! {
    FlowMembersArgs => MembersPage: |store, args| store.members_page(args);
    FlowEdgesArgs => EdgesPage: |store, args| store.edges_page(args);
    ListFlowsArgs => FlowsPage: |store, args| store.flows_page(args);
    FlowEventsArgs => FlowEventsPage: |store, args| store.events_page(args);
    CascadeArgs => CascadeStep: |store, CascadeArgs { execution_id: ref id, .. }| run_cascade(store, id);
    CloseFlowArgs => ClosedFlow: |store, args| ff_close_flow(&*store.calls, &store.partitions, args);
    CancelFlowArgs => FlowCancelled: |store, args| ff_cancel_flow(&*store.calls, &store.partitions, args);
    SetFlowTagsArgs => TaggedFlow: |store, args| ff_set_flow_tags(&*store.calls, &store.partitions, args);
    WaitForChildrenArgs => WaitedForChildren: |store, args| ff_move_to_waiting_children(&*store.calls, args);
}

impl Handle<DescribeFlow, FlowInfo> for ValkeyBackend {
    async fn handle(&self, DescribeFlow { flow_id: ref id }: DescribeFlow) -> Answer<FlowInfo> {
        Ok(self.flow(id, FlowQuery::default()).await?.info())
    }
}

impl ValkeyBackend {
    /// Writes a flow, and makes sure before and after it that the directories name the flow's partition.
    async fn note_and_write<T>(
        &self,
        header: &FlowHeader,
        mut entries: Vec<Entry>,
        write: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        let partition = flow_partition(&header.flow_id, &self.partitions).index;
        entries.push(Entry::Tenant(header.namespace.clone(), partition));
        self.calls.note(&entries).await?;
        let reply = write.await?;
        self.calls.note_again(&entries).await?;
        Ok(reply)
    }

    /// Returns the directory entries of members, each once.
    fn entries(&self, flow: &FlowId, namespace: &Namespace, nodes: &[NodeSpec]) -> Vec<Entry> {
        let partition = flow_partition(flow, &self.partitions).index;
        let all = nodes.iter().flat_map(|node| Entry::of(namespace, &node.lane, &node.tags, partition));
        all.collect::<HashSet<_>>().into_iter().collect()
    }

    /// Writes the directory entries of members that are added to a flow. The namespace is read from the flow; an
    /// unknown flow is refused by the following call.
    async fn list_newcomers(&self, args: &GrowFlowArgs) -> Answer<()> {
        if args.nodes.is_empty() {
            return Ok(());
        }
        let namespace = match self.describe_flow(&args.flow_id).await {
            Ok(info) => info.namespace,
            Err(EngineError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.calls.note(&self.entries(&args.flow_id, &namespace, &args.nodes)).await
    }
}
