//! The secrets of tokens over HTTP. A request may contain a secret; no response does.

use axum::Json;
use axum::extract::State;
use ff_api::{NoQuery, RotateSecret, RotationReport, Secrets};
use ff_scheduler::Runtime;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::params::Params;
use crate::response::problem::Result;

/// Installs a new secret on every partition, and reports the result for each.
pub(crate) async fn rotate(
    State(ff): State<Runtime>,
    caller: Caller,
    Body(call): Body<RotateSecret>,
) -> Result<Json<RotationReport>> {
    let args = call.into_args()?;
    let kid = args.kid.clone();
    let report = ff.backend().rotate_secret(args).await?;
    audit::rotated(&caller, &kid, &report);
    Ok(Json(report.into()))
}

/// Lists the names of the secrets, without the secrets.
pub(crate) async fn list(State(ff): State<Runtime>, _: Params<NoQuery>) -> Result<Json<Secrets>> {
    Ok(Json(Secrets { partitions: ff.backend().kids().await? }))
}
