//! The domain of flows, over HTTP.

use ff_api::{EdgesQuery, FlowEventsQuery, FlowQuery, FlowsQuery, GraphLimit, Limit, MembersQuery, TagFilter, WaitMs};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    CancelFlowArgs, CreateFlowArgs, EdgesPage, FlowCancelled, FlowEdgesArgs, FlowEventsArgs, FlowEventsPage, FlowInfo,
    FlowMembersArgs, FlowsPage, GrowFlowArgs, GrownFlow, ListFlowsArgs, MembersPage, SubmittedFlow,
};
use ff_core::operation::query::DescribeFlow;
use ff_core::types::FlowId;

use super::HttpConnection;
use super::error::{unreadable, unwritable};

impl Handle<CreateFlowArgs, SubmittedFlow> for HttpConnection {
    async fn handle(&self, mut args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        args.header.namespace = self.effective_namespace(&args.header.namespace);
        args.header.derive_id();
        self.post(&["flows"], &ff_api::SubmitFlow::held_open(args), 0).await
    }
}

impl Handle<GrowFlowArgs, GrownFlow> for HttpConnection {
    async fn handle(&self, args: GrowFlowArgs) -> Answer<GrownFlow> {
        let id = args.flow_id.to_string();
        let grow = ff_api::GrowFlow::of(args).map_err(unwritable)?;
        self.post(&["flows", &id, "grow"], &grow, 0).await
    }
}

impl Handle<CancelFlowArgs, FlowCancelled> for HttpConnection {
    async fn handle(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        let id = args.flow_id.to_string();
        self.post(&["flows", &id, "cancel"], &ff_api::CancelFlow::of(args), 0).await
    }
}

impl Handle<DescribeFlow, FlowInfo> for HttpConnection {
    async fn handle(&self, DescribeFlow { flow_id: ref id }: DescribeFlow) -> Answer<FlowInfo> {
        self.flow_within(id, 0).await
    }
}

impl Handle<FlowMembersArgs, MembersPage> for HttpConnection {
    async fn handle(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        let query = MembersQuery { from: Some(args.from), limit: Some(Limit(args.limit)) };
        self.get(&["flows", &args.flow_id.to_string(), "members"], query, 0).await
    }
}

impl Handle<FlowEdgesArgs, EdgesPage> for HttpConnection {
    async fn handle(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        let query = EdgesQuery { after: args.after, limit: Some(Limit(args.limit)) };
        self.get(&["flows", &args.flow_id.to_string(), "edges"], query, 0).await
    }
}

impl Handle<ListFlowsArgs, FlowsPage> for HttpConnection {
    async fn handle(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        let query = FlowsQuery {
            namespace: Some(args.namespace),
            kind: args.kind,
            state: args.state,
            tag: args.tag.map(|(key, value)| TagFilter(key, value)),
            cursor: args.after.map(|cursor| cursor.to_string()),
            limit: Some(Limit(args.limit)),
        };
        let page: ff_api::FlowsPage = self.get(&["flows"], query, 0).await?;
        page.into_page().map_err(unreadable)
    }
}

impl Handle<FlowEventsArgs, FlowEventsPage> for HttpConnection {
    async fn handle(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.flow_events_within(args, 0).await
    }
}

impl HttpConnection {
    /// Returns the state of a flow, and waits for its end up to `wait_ms`.
    pub(super) async fn flow_within(&self, id: &FlowId, wait_ms: u64) -> Answer<FlowInfo> {
        let query = FlowQuery { graph: Some(GraphLimit(0)), wait_ms: Some(WaitMs(wait_ms)) };
        self.get(&["flows", &id.to_string()], query, wait_ms).await
    }

    /// Returns a page of a flow's events, and waits up to `wait_ms` for the first one.
    pub(super) async fn flow_events_within(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        args.check()?;
        let query =
            FlowEventsQuery { from: Some(args.from), limit: Some(Limit(args.limit)), wait_ms: Some(WaitMs(wait_ms)) };
        self.get(&["flows", &args.flow_id.to_string(), "events"], query, wait_ms).await
    }
}
