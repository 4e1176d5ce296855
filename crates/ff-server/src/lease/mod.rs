//! The domain of leases over HTTP: claims, assignments, and control messages to worker instances.

mod batch;

use axum::Json;
use axum::extract::State;
use ff_api::{Claim, ClaimRequest, Claims, ControlQuery, Grants, GrantsQuery};
use ff_core::contracts::{self, Control, ControlArgs, Filter, GrantInfo, LeaseLost, ListArgs, check_wait};
use ff_core::engine_error::Code;
use ff_core::execution::Blocker;
use ff_core::types::Namespace;
use ff_scheduler::Runtime;

use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::params::{Params, cursor};
use crate::request::path::Instance;
use crate::response::problem::Result;

pub(crate) use batch::batch;

/// Claims executions, and can wait for them. The wait ends when the caller disconnects.
pub(crate) async fn claim(
    State(ff): State<Runtime>,
    Instance(instance): Instance,
    Body(claim): Body<Claim>,
) -> Result<Json<Claims>> {
    let encoding = claim.encoding;
    let claims = match claim.into_args(instance)? {
        ClaimRequest::Partition(args) => ff.backend().claim(args).await?,
        ClaimRequest::Anywhere(args) => {
            args.check()?;
            contracts::Claims { claimed: ff.long_poll().next(args).await?, ..contracts::Claims::default() }
        }
    };
    Ok(Json(Claims::of(claims, encoding)))
}

/// Lists the executions assigned to worker instances, newest first, a page at a time.
pub(crate) async fn grants(State(ff): State<Runtime>, Params(query): Params<GrantsQuery>) -> Result<Json<Grants>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    let filter = Filter { blocking_reason: Some(Blocker::Assignment.reason()), ..Filter::everything(namespace) };
    let after = cursor("cursor", query.cursor)?;
    let limit = query.limit.unwrap_or_default().0;
    let page = ff.backend().list(ListArgs { filter, after, limit }).await?;
    let grants = page.executions.iter().filter_map(GrantInfo::of);
    let grants =
        grants.filter(|one| query.worker.as_ref().is_none_or(|worker| one.grant.worker_instance_id == *worker));
    Ok(Json(Grants { grants: grants.collect(), next_cursor: page.next.map(|cursor| cursor.to_string()) }))
}

/// Lists the leases that a worker instance lost; can wait for the next one.
pub(crate) async fn control(
    State(ff): State<Runtime>,
    caller: Caller,
    Instance(worker_instance_id): Instance,
    Params(query): Params<ControlQuery>,
) -> Result<Json<Control>> {
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    let mut control = ff.long_poll().control(ControlArgs { worker_instance_id, after: query.after, wait_ms }).await?;
    if let Some(own) = caller.tenant() {
        control.lost = own_of(&ff, own, control.lost).await?;
    }
    Ok(Json(control))
}

/// Returns the lost leases of one tenant. Worker instances belong to no tenant, so another tenant may use the same instance
/// name.
async fn own_of(ff: &Runtime, own: &Namespace, lost: Vec<LeaseLost>) -> Result<Vec<LeaseLost>> {
    let mut leases = Vec::with_capacity(lost.len());
    for lost in lost {
        match ff.backend().describe(&lost.execution_id).await {
            Ok(info) if info.namespace == *own => leases.push(lost),
            Ok(_) => {}
            Err(error) if error.code() == Code::ExecutionNotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(leases)
}
