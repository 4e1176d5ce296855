//! The room of leases over HTTP: the worker protocol, and an operator's way to take a lease away.

use axum::Json;
use axum::extract::State;
use ff_api::{Claim, ClaimOf, Claims, Complete, Delay, Fail, Progress, Renew, Revoke};
use ff_core::contracts::{
    self, Completed, Control, ControlArgs, Delayed, Failed, LeaseLost, Noted, Renewed, Revoked, check_wait,
};
use ff_core::engine_error::Code;
use ff_core::types::Namespace;
use ff_scheduler::Runtime;

use crate::body::Body;
use crate::callers::Caller;
use crate::params::Params;
use crate::path::{Id, Instance};
use crate::problem::Result;

/// Hands out work, waiting for some if asked to. A caller that goes away stops waiting.
pub(crate) async fn claim(
    State(ff): State<Runtime>,
    Instance(instance): Instance,
    Body(claim): Body<Claim>,
) -> Result<Json<Claims>> {
    let encoding = claim.encoding;
    let claims = match claim.into_args(instance)? {
        ClaimOf::Partition(args) => ff.backend().claim(args).await?,
        ClaimOf::Anywhere(args) => {
            args.check()?;
            contracts::Claims { claimed: ff.waits().next(args).await?, next: None, limited: false }
        }
    };
    Ok(Json(Claims::of(claims, encoding)))
}

/// Tells an instance which of its leases it lost, waiting for news if asked to.
pub(crate) async fn control(
    State(ff): State<Runtime>,
    caller: Caller,
    Instance(worker_instance_id): Instance,
    mut params: Params,
) -> Result<Json<Control>> {
    let (after, wait_ms) = (params.text("after"), params.number("wait_ms")?.unwrap_or(0));
    params.done()?;
    check_wait(wait_ms)?;
    let mut control = ff.waits().control(ControlArgs { worker_instance_id, after, wait_ms }).await?;
    if let Some(own) = caller.tenant() {
        control.lost = own_of(&ff, own, control.lost).await?;
    }
    Ok(Json(control))
}

/// What a tenant may hear of: instances are not bound to one, and another tenant's may have the same name.
async fn own_of(ff: &Runtime, own: &Namespace, lost: Vec<LeaseLost>) -> Result<Vec<LeaseLost>> {
    let mut heard = Vec::with_capacity(lost.len());
    for lost in lost {
        match ff.backend().describe(&lost.execution_id).await {
            Ok(info) if info.namespace == *own => heard.push(lost),
            Ok(_) => {}
            Err(error) if error.code() == Code::ExecutionNotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(heard)
}

/// Lets the holder go on.
pub(crate) async fn renew(State(ff): State<Runtime>, Id(id): Id, Body(call): Body<Renew>) -> Result<Json<Renewed>> {
    Ok(Json(ff.backend().renew(call.into_args(id)?).await?))
}

/// Notes how far the holder is.
pub(crate) async fn progress(State(ff): State<Runtime>, Id(id): Id, Body(call): Body<Progress>) -> Result<Json<Noted>> {
    Ok(Json(ff.backend().progress(call.into_args(id)?).await?))
}

/// Ends an execution with what its holder produced.
pub(crate) async fn complete(
    State(ff): State<Runtime>,
    Id(id): Id,
    Body(call): Body<Complete>,
) -> Result<Json<Completed>> {
    Ok(Json(ff.backend().complete(call.into_args(id)?).await?))
}

/// Takes the holder's word that it went wrong; the policy says what follows.
pub(crate) async fn fail(State(ff): State<Runtime>, Id(id): Id, Body(call): Body<Fail>) -> Result<Json<Failed>> {
    Ok(Json(ff.backend().fail(call.into_args(id)?).await?))
}

/// Puts an execution off; the same attempt goes on later.
pub(crate) async fn delay(State(ff): State<Runtime>, Id(id): Id, Body(call): Body<Delay>) -> Result<Json<Delayed>> {
    Ok(Json(ff.backend().delay(call.into_args(id)?).await?))
}

/// Takes an execution from its holder.
pub(crate) async fn revoke(State(ff): State<Runtime>, Id(id): Id, Body(revoke): Body<Revoke>) -> Result<Json<Revoked>> {
    Ok(Json(ff.backend().revoke(revoke.into_args(id)).await?))
}
