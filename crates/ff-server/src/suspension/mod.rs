//! The domain of suspensions over HTTP: a lease holder suspends its execution, and an operator decides about it.

pub(crate) mod approval;
pub(crate) mod decision;
pub(crate) mod secret;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use ff_api::{
    CloseWaitpoint, Decide, NoQuery, Strict, Suspend, SuspendReply, Waitpoint, WaitpointTokenReply, Waitpoints,
};
use ff_core::contracts::{ClosedWaitpoint, ProgressArgs, ResumedExecution, SuspendArgs};
use ff_core::engine_error::EngineError;
use ff_core::operation::ExecutionCommand;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{ExecutionId, SourceIdentity};
use ff_scheduler::Runtime;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::{self, Id};
use crate::response::problem::{Problem, Result};
use crate::routing::links::Links;

/// Ends the lease and suspends the execution, unless its condition is satisfied already.
pub(crate) async fn suspend(
    State(ff): State<Runtime>,
    State(links): State<Links>,
    Id(id): Id,
    headers: HeaderMap,
    Body(call): Body<Suspend>,
) -> Result<Json<SuspendReply>> {
    let question = call.approval.as_ref().map(|Strict(approval)| approval.question.clone());
    let args = call.into_args(id)?;
    let Some(question) = question else {
        return Ok(Json(SuspendReply { suspended: ff.backend().suspend(args).await?, approval_url: None }));
    };
    let base = links.base(&headers)?;
    args.check()?;
    ask(&ff, &args, question).await?;
    let suspended = ff.backend().suspend(args).await?;
    let asked_at = suspended.waitpoints.first().map(|granted| Waitpoint::new(id, granted.clone()));
    let approval_url = asked_at.map(|waitpoint| waitpoint.approval_url(base.as_str())).transpose();
    let approval_url = approval_url.map_err(|error| Problem::defect(&error.to_string()))?;
    Ok(Json(SuspendReply { suspended, approval_url }))
}

/// Stores the question of an approval as the progress message. Ignores a refusal: the suspension returns the same refusal,
/// unless it is a repeated call.
async fn ask(ff: &Runtime, args: &SuspendArgs, question: String) -> Result<()> {
    let (execution_id, fence) = (args.execution_id, args.fence);
    let note = ProgressArgs { execution_id, fence, percent: None, message: Some(question) };
    match ff.backend().progress(note).await {
        Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lists the open waitpoints of an execution, without their tokens.
pub(crate) async fn waitpoints(State(ff): State<Runtime>, Id(id): Id, _: Params<NoQuery>) -> Result<Json<Waitpoints>> {
    Ok(Json(Waitpoints { waitpoints: ff.backend().waitpoints(&id).await? }))
}

/// Returns the token of a waitpoint to an operator.
pub(crate) async fn token(
    State(ff): State<Runtime>,
    caller: Caller,
    Id(id): Id,
    path::Waitpoint(waitpoint): path::Waitpoint,
    _: Params<NoQuery>,
) -> Result<Response> {
    let waitpoint_token = ff.backend().waitpoint_token(&id, &waitpoint).await?;
    audit::token_read(&caller, &id, &waitpoint);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(WaitpointTokenReply { waitpoint_token })).into_response())
}

/// Closes a waitpoint that no suspension has used.
pub(crate) async fn close_waitpoint(
    State(ff): State<Runtime>,
    Id(id): Id,
    path::Waitpoint(waitpoint): path::Waitpoint,
    Body(call): Body<CloseWaitpoint>,
) -> Result<Json<ClosedWaitpoint>> {
    Ok(Json(ff.backend().close_waitpoint(call.into_args(id, waitpoint)).await?))
}

macro_rules! decisions {
    ($($(#[$doc:meta])* $name:ident: $decision:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) async fn $name(
            State(ff): State<Runtime>,
            caller: Caller,
            Id(id): Id,
            Body(call): Body<Decide>,
        ) -> Result<Json<ResumedExecution>> {
            decide(&ff, &caller, id, call, OperatorDecision::$decision).await
        }
    )*};
}

decisions! {
    /// Resumes a suspended execution.
    resume: Resume;
    /// Approves a suspended execution.
    approve: Approve;
    /// Rejects a suspended execution.
    reject: Reject;
}

async fn decide(
    ff: &Runtime,
    caller: &Caller,
    id: ExecutionId,
    call: Decide,
    decision: OperatorDecision,
) -> Result<Json<ResumedExecution>> {
    let mut args = call.into_args(id, decision)?;
    if let (None, Some(key)) = (&args.requested_by, caller.key()) {
        // A key name that is not a valid sender is left out: the decision counts either way.
        args.requested_by = SourceIdentity::parse(key.name.as_str()).ok();
    }
    let requested_by = args.requested_by.clone();
    let resumed = ff.backend().resume(args).await?;
    audit::decided(caller, &id, decision, requested_by.as_ref(), &resumed);
    Ok(Json(resumed))
}
