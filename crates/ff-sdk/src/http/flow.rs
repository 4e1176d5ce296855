//! The room of flows, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, FlowRoom};
use ff_core::contracts::{
    CancelFlowArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled, FlowEdgesArgs,
    FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown, ListFlowsArgs,
    MembersPage, SetFlowTagsArgs, SubmitFlowArgs, SubmittedFlow, TaggedFlow, WaitForChildrenArgs, WaitedForChildren,
};
use ff_core::types::{ExecutionId, FlowId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::HttpBackend;
use super::call::unreadable;
use super::execution::unwritable;

#[async_trait]
impl FlowRoom for HttpBackend {
    async fn submit_flow(&self, mut args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        args.header.namespace = self.whose(&args.header.namespace);
        args.header.follow_key();
        args.clone().plan()?;
        let submit = ff_api::SubmitFlow::of(args).map_err(|error| unwritable(&error))?;
        self.post(&["flows"], &submit, 0).await
    }

    async fn create_flow(&self, mut args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        args.header.check()?;
        args.header.namespace = self.whose(&args.header.namespace);
        args.header.follow_key();
        self.post(&["flows"], &ff_api::SubmitFlow::held_open(args), 0).await
    }

    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown> {
        args.check()?;
        let id = args.flow_id;
        let grow = ff_api::GrowFlow::of(args).map_err(|error| unwritable(&error))?;
        self.ask_flow(&id, "grow", grow).await
    }

    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow> {
        self.ask_flow(&args.flow_id, "close", ff_api::CloseFlow {}).await
    }

    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        args.check()?;
        self.ask_flow(&args.flow_id.clone(), "cancel", ff_api::CancelFlow::of(args)).await
    }

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow> {
        self.ask_flow(&args.flow_id.clone(), "tags", ff_api::TagFlow::of(args)).await
    }

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo> {
        self.flow_within(id, 0).await
    }

    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        args.check()?;
        let query = [("from", args.from.to_string()), ("limit", args.limit.to_string())];
        self.get(&["flows", &args.flow_id.to_string(), "members"], &query, 0).await
    }

    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["flows", &args.flow_id.to_string(), "edges"], &query, 0).await
    }

    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        args.check()?;
        let mut query = vec![("namespace", self.whose(&args.namespace).to_string()), ("limit", args.limit.to_string())];
        query.extend(args.kind.map(|kind| ("kind", kind.to_string())));
        query.extend(args.state.map(|state| ("state", state.to_string())));
        query.extend(args.tag.map(|(key, value)| ("tag", format!("{key}:{value}"))));
        query.extend(args.after.map(|cursor| ("cursor", cursor.to_string())));
        let page: ff_api::FlowsPage = self.get(&["flows"], &query, 0).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }

    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.flow_events_within(args, 0).await
    }

    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren> {
        self.ask(args.execution_id, "wait_for_children", ff_api::WaitForChildren::of(args)).await
    }

    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded> {
        self.ask(*id, "cascade", ff_api::Cascade {}).await
    }
}

impl HttpBackend {
    /// How a flow stands, waiting for its end up to `wait_ms`.
    pub(super) async fn flow_within(&self, id: &FlowId, wait_ms: u64) -> Answer<FlowInfo> {
        let query = [("graph", "0".to_owned()), ("wait_ms", wait_ms.to_string())];
        self.get(&["flows", &id.to_string()], &query, wait_ms).await
    }

    /// What happened in a flow, waiting for something up to `wait_ms`.
    pub(super) async fn flow_events_within(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        args.check()?;
        let query =
            [("from", args.from.to_string()), ("limit", args.limit.to_string()), ("wait_ms", wait_ms.to_string())];
        self.get(&["flows", &args.flow_id.to_string(), "events"], &query, wait_ms).await
    }

    /// Asks something of one flow.
    async fn ask_flow<T: DeserializeOwned>(
        &self,
        id: &FlowId,
        verb: &str,
        body: impl Serialize + Send + Sync,
    ) -> Answer<T> {
        self.post(&["flows", &id.to_string(), verb], &body, 0).await
    }
}
