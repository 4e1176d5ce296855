//! The domain of flows over HTTP.

mod events;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_api::{
    CancelFlow, EdgesQuery, FlowCancellation, FlowGraph, FlowQuery, FlowView, FlowsPage, FlowsQuery, GrowFlow,
    MembersQuery, NewFlow, Replay, SubmitFlow, TagFilter, WaitQuery,
};
use ff_core::contracts::{
    EdgesPage, FlowCursor, FlowEdgesArgs, FlowMembersArgs, GrownFlow, ListFlowsArgs, MembersPage, ReplayedExecution,
    SubmittedFlow, check_wait,
};
use ff_core::engine_error::{Code, Refusal};
use ff_core::flow::member_id;
use ff_core::limits;
use ff_core::types::{FlowId, Namespace};
use ff_scheduler::Runtime;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::execution::{key_in, resolve_idempotency_key};
use crate::request::body::{Body, BodyOnly};
use crate::request::params::{Params, cursor};
use crate::request::path::{Flow, Node};
use crate::response::page;
use crate::response::problem::Result;
use crate::trace;

pub(crate) use events::events;

/// Creates a flow, complete or held open, or returns the one already created under the same id or key.
pub(crate) async fn submit(
    State(ff): State<Runtime>,
    headers: HeaderMap,
    Body(mut new): Body<SubmitFlow>,
) -> Result<CreatedFlow> {
    new.idempotency_key = resolve_idempotency_key(key_in(&headers)?, new.idempotency_key.take())?;
    let around = || trace::in_headers(&headers);
    Ok(CreatedFlow(match new.into_new()? {
        NewFlow::Whole(mut args) => {
            args.header.trace = args.header.trace.or_else(around);
            ff.backend().submit_flow(args).await?
        }
        NewFlow::HeldOpen(mut args) => {
            args.header.trace = args.header.trace.or_else(around);
            ff.backend().create_flow(args).await?
        }
    }))
}

/// Lists flows, newest first, a page at a time.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<FlowsQuery>) -> Result<Json<FlowsPage>> {
    let args = ListFlowsArgs {
        namespace: query.namespace.unwrap_or_else(Namespace::default_name),
        kind: query.kind,
        state: query.state,
        tag: query.tag.map(|TagFilter(key, value)| (key, value)),
        after: cursor("cursor", query.cursor)?,
        limit: query.limit.unwrap_or_default().0,
    };
    let mut page = ff.backend().list_flows(args).await?;
    if page::cut(&mut page.flows) {
        page.next = page.flows.last().map(|flow| FlowCursor { created_at: flow.created_at, flow_id: flow.flow_id });
    }
    Ok(Json(page.into()))
}

/// Returns the state of a flow with the first part of its graph; can wait for its end.
pub(crate) async fn describe(
    State(ff): State<Runtime>,
    Flow(id): Flow,
    Params(query): Params<FlowQuery>,
) -> Result<Json<FlowView>> {
    let shown = query.graph.unwrap_or_default().0;
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    if shown > limits::PAGE {
        return Err(Refusal::over_limit(Code::LimitExceeded, "graph", limits::PAGE, shown).into());
    }
    if wait_ms > 0 {
        ff.long_poll().flow_ended(&id, wait_ms).await?;
    }
    let flow = ff.backend().describe_flow(&id).await?;
    let graph = if shown == 0 { None } else { Some(graph(&ff, id, shown).await?) };
    Ok(Json(FlowView { flow, graph }))
}

/// Lists the members of a flow, in the order they were added.
pub(crate) async fn members(
    State(ff): State<Runtime>,
    Flow(flow_id): Flow,
    Params(query): Params<MembersQuery>,
) -> Result<Json<MembersPage>> {
    let args = FlowMembersArgs { flow_id, from: query.from.unwrap_or(0), limit: query.limit.unwrap_or_default().0 };
    Ok(Json(ff.backend().flow_members(args).await?))
}

/// Lists the edges of a flow, ordered by id.
pub(crate) async fn edges(
    State(ff): State<Runtime>,
    Flow(flow_id): Flow,
    Params(query): Params<EdgesQuery>,
) -> Result<Json<EdgesPage>> {
    let args = FlowEdgesArgs { flow_id, after: query.after, limit: query.limit.unwrap_or_default().0 };
    Ok(Json(ff.backend().flow_edges(args).await?))
}

/// Adds members and edges to a live flow, all or none.
pub(crate) async fn grow(
    State(ff): State<Runtime>,
    Flow(id): Flow,
    headers: HeaderMap,
    Body(mut call): Body<GrowFlow>,
) -> Result<Json<GrownFlow>> {
    call.idempotency_key = resolve_idempotency_key(key_in(&headers)?, call.idempotency_key.take())?;
    Ok(Json(ff.backend().grow_flow(call.into_args(id)?).await?))
}

/// Cancels a flow; can wait for its end.
pub(crate) async fn cancel(
    State(ff): State<Runtime>,
    caller: Caller,
    Flow(id): Flow,
    Params(query): Params<WaitQuery>,
    BodyOnly(call): BodyOnly<CancelFlow>,
) -> Result<Json<FlowCancellation>> {
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    let mut args = call.into_args(id);
    caller.sign(&mut args.requested_by);
    let requested_by = args.requested_by.clone();
    let cancelled = ff.backend().cancel_flow(args).await?;
    audit::flow_cancelled(&caller, &id, requested_by.as_deref(), &cancelled);
    let end = if wait_ms == 0 { None } else { ff.long_poll().flow_ended(&id, wait_ms).await? };
    Ok(Json(FlowCancellation { cancelled, end }))
}

/// Runs a finished node again.
pub(crate) async fn replay(
    State(ff): State<Runtime>,
    caller: Caller,
    Flow(flow): Flow,
    Node(node): Node,
    Body(mut call): Body<Replay>,
) -> Result<Json<ReplayedExecution>> {
    caller.sign(&mut call.requested_by);
    ff.backend().describe_flow(&flow).await?;
    let id = member_id(&flow, &node, &ff.backend().partitions());
    Ok(Json(ff.backend().replay(call.into_args(id)?).await?))
}

/// The response to a submission: the location of the flow, and whether it is new.
pub(crate) struct CreatedFlow(SubmittedFlow);

impl IntoResponse for CreatedFlow {
    fn into_response(self) -> Response {
        let status = if self.0.duplicate { StatusCode::OK } else { StatusCode::CREATED };
        (status, [(header::LOCATION, format!("/v1/flows/{}", self.0.flow_id))], Json(self.0)).into_response()
    }
}

async fn graph(ff: &Runtime, flow_id: FlowId, limit: usize) -> Result<FlowGraph> {
    let members = ff.backend().flow_members(FlowMembersArgs { flow_id, from: 0, limit }).await?;
    let edges = ff.backend().flow_edges(FlowEdgesArgs { flow_id, after: None, limit }).await?;
    Ok(FlowGraph::of(members, edges))
}
