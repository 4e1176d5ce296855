//! The domain of flows, over the model.

use std::cmp::Reverse;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    EdgeInfo, EdgesPage, FlowCursor, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs,
    FlowsPage, Input, ListFlowsArgs, MemberInfo, MembersPage,
};
use ff_core::engine_error::Code;
use ff_core::flow::{Edge, Flow};
use ff_core::model::Model;
use ff_core::operation::query::{DescribeFlow, EndOfFlow, NamespaceOfFlow};
use ff_core::rule::view::{EdgesOf, MembersOf, Side, View};
use ff_core::types::{ExecutionId, FlowId, Namespace};

use crate::{MemoryBackend, reads};

impl Handle<DescribeFlow, FlowInfo> for MemoryBackend {
    async fn handle(&self, DescribeFlow { flow_id: ref id }: DescribeFlow) -> Answer<FlowInfo> {
        self.look_at_flow(id, |_, flow| Ok(flow.info()))
    }
}

impl Handle<EndOfFlow, Option<FlowEnd>> for MemoryBackend {
    async fn handle(&self, EndOfFlow { flow_id: ref id }: EndOfFlow) -> Answer<Option<FlowEnd>> {
        self.look_at_flow(id, |_, flow| Ok(flow.info().end()))
    }
}

reads! {
    NamespaceOfFlow => Option<Namespace>:
        |store, query| store.model()?.find_flow(&query.flow_id).map(|flow| flow.namespace.clone());
    ListFlowsArgs => FlowsPage: |store, query| page(&*store.model()?, &query);
}

impl Handle<FlowMembersArgs, MembersPage> for MemoryBackend {
    async fn handle(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        self.look_at_flow(&args.flow_id, |model, flow| {
            let all = model.members(&MembersOf { flow: flow.id, after: None, limit: usize::MAX }).unwrap_or_default();
            let info = |id: &ExecutionId| MemberInfo::of(model.find(id)?, model.group(id).ok().flatten());
            let mut members: Vec<_> = all.iter().filter_map(info).filter(|info| info.position >= args.from).collect();
            members.sort_unstable_by_key(|info| info.position);
            let next = members.get(args.limit).map(|info| info.position);
            members.truncate(args.limit);
            Ok(MembersPage { members, next })
        })
    }
}

impl Handle<FlowEdgesArgs, EdgesPage> for MemoryBackend {
    async fn handle(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        self.look_at_flow(&args.flow_id, |model, flow| {
            let mut rest = model.edges_after(&flow.id, args.after);
            let edges: Vec<EdgeInfo> = rest.by_ref().take(args.limit).map(EdgeInfo::from).collect();
            let next = edges.last().map(|edge| edge.edge_id).filter(|_| rest.next().is_some());
            Ok(EdgesPage { edges, next })
        })
    }
}

impl Handle<FlowEventsArgs, FlowEventsPage> for MemoryBackend {
    async fn handle(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.look_at_flow(&args.flow_id, |model, flow| Ok(FlowEventsPage::of(flow, model.flow_events(&flow.id), &args)))
    }
}

impl MemoryBackend {
    /// Reads one flow and its side records at the same moment.
    fn look_at_flow<T>(&self, id: &FlowId, read: impl FnOnce(&Model, &Flow) -> Answer<T>) -> Answer<T> {
        let model = self.model()?;
        let flow = model.find_flow(id).ok_or(Code::FlowNotFound)?;
        read(&model, flow)
    }
}

/// Returns the named inputs that a claim brings.
pub(crate) fn inputs(model: &Model, flow: &FlowId, id: &ExecutionId) -> Vec<Input> {
    let query = EdgesOf { flow: *flow, member: *id, side: Side::Incoming, after: None, limit: usize::MAX };
    let ids = model.edges(&query).unwrap_or_default();
    let edges: Vec<&Edge> = ids.iter().filter_map(|edge| model.edge(flow, edge).ok().flatten()).collect();
    Input::of_edges(edges, |upstream| model.result(upstream).cloned())
}

fn page(model: &Model, args: &ListFlowsArgs) -> FlowsPage {
    let begins = |flow: &&Flow| args.after.is_none_or(|after| FlowCursor::of(flow) < after);
    let mut rows: Vec<_> = model.flows().filter(|flow| args.wants(flow)).filter(begins).collect();
    rows.sort_unstable_by_key(|flow| Reverse(FlowCursor::of(flow)));
    let more = rows.len() > args.limit;
    rows.truncate(args.limit);
    FlowsPage {
        next: rows.last().filter(|_| more).map(|flow| FlowCursor::of(flow)),
        flows: rows.into_iter().map(Flow::info).collect(),
    }
}
