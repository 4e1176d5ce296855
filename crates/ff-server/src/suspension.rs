//! The room of suspensions over HTTP: what a holder waits on, and what operators decide about what waits.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ff_core::contracts::{ClosedWaitpoint, GrantedWaitpoint, Resumed, Suspended};
use ff_core::suspension::OperatorDecision;
use ff_core::types::ExecutionId;
use ff_sdk::FlowFabric;
use ff_sdk::http::wire::{CloseWaitpoint, CreateWaitpoint, Decide, Suspend, TokenOf, Waitpoints};

use crate::audit;
use crate::body::Body;
use crate::callers::Caller;
use crate::params::Params;
use crate::path::{Id, Waitpoint};
use crate::problem::Result;

/// Lets the holder go and the execution wait, unless what it would wait for is there already.
pub(crate) async fn suspend(
    State(ff): State<FlowFabric>,
    Id(id): Id,
    Body(call): Body<Suspend>,
) -> Result<Json<Suspended>> {
    Ok(Json(ff.backend().suspend(call.into_args(id)?).await?))
}

/// Makes a waitpoint ahead of a suspension, so that its token can be handed out first.
pub(crate) async fn create_waitpoint(
    State(ff): State<FlowFabric>,
    Id(id): Id,
    Body(call): Body<CreateWaitpoint>,
) -> Result<Json<GrantedWaitpoint>> {
    Ok(Json(ff.backend().create_waitpoint(call.into_args(id)?).await?))
}

/// Lists the open waitpoints of an execution, without their tokens.
pub(crate) async fn waitpoints(State(ff): State<FlowFabric>, Id(id): Id, params: Params) -> Result<Json<Waitpoints>> {
    params.done()?;
    Ok(Json(Waitpoints { waitpoints: ff.backend().waitpoints(&id).await? }))
}

/// Tells an operator what opens a waitpoint.
pub(crate) async fn token(
    State(ff): State<FlowFabric>,
    caller: Caller,
    Id(id): Id,
    Waitpoint(waitpoint): Waitpoint,
    params: Params,
) -> Result<Response> {
    params.done()?;
    let waitpoint_token = ff.backend().waitpoint_token(&id, &waitpoint).await?;
    audit::token_read(&caller, &id, &waitpoint);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(TokenOf { waitpoint_token })).into_response())
}

/// Closes a waitpoint no suspension has used.
pub(crate) async fn close_waitpoint(
    State(ff): State<FlowFabric>,
    Id(id): Id,
    Waitpoint(waitpoint): Waitpoint,
    Body(call): Body<CloseWaitpoint>,
) -> Result<Json<ClosedWaitpoint>> {
    Ok(Json(ff.backend().close_waitpoint(call.into_args(id, waitpoint)).await?))
}

/// Lets a suspended execution go on.
pub(crate) async fn resume(
    State(ff): State<FlowFabric>,
    caller: Caller,
    Id(id): Id,
    Body(call): Body<Decide>,
) -> Result<Json<Resumed>> {
    decide(&ff, &caller, id, call, OperatorDecision::Resume).await
}

/// Approves what a suspended execution waits for.
pub(crate) async fn approve(
    State(ff): State<FlowFabric>,
    caller: Caller,
    Id(id): Id,
    Body(call): Body<Decide>,
) -> Result<Json<Resumed>> {
    decide(&ff, &caller, id, call, OperatorDecision::Approve).await
}

/// Rejects what a suspended execution waits for.
pub(crate) async fn reject(
    State(ff): State<FlowFabric>,
    caller: Caller,
    Id(id): Id,
    Body(call): Body<Decide>,
) -> Result<Json<Resumed>> {
    decide(&ff, &caller, id, call, OperatorDecision::Reject).await
}

async fn decide(
    ff: &FlowFabric,
    caller: &Caller,
    id: ExecutionId,
    call: Decide,
    decision: OperatorDecision,
) -> Result<Json<Resumed>> {
    let args = call.into_args(id, decision)?;
    let requested_by = args.requested_by.clone();
    let resumed = ff.backend().resume(args).await?;
    audit::decided(caller, &id, decision, requested_by.as_ref(), &resumed);
    Ok(Json(resumed))
}
