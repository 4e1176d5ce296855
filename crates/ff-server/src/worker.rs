//! The room of workers over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{Heartbeat, Leave, RegisterWorker};
use ff_core::contracts::{LeftWorker, ListWorkersArgs, RegisteredWorker, SeenWorker, WorkersPage};
use ff_core::limits;
use ff_scheduler::Runtime;

use crate::body::Body;
use crate::page;
use crate::params::Params;
use crate::path::Instance;
use crate::problem::Result;

/// Lists the worker instances that are there, by their ids.
pub(crate) async fn list(State(ff): State<Runtime>, mut params: Params) -> Result<Json<WorkersPage>> {
    let args = ListWorkersArgs {
        namespace: params.namespace()?,
        after: params.word("after")?,
        limit: params.number("limit")?.unwrap_or(limits::PAGE_DEFAULT),
    };
    params.done()?;
    let mut page = ff.backend().list_workers(args).await?;
    if page::cut(&mut page.workers) {
        page.next = page.workers.last().map(|worker| worker.worker_instance_id.clone());
    }
    Ok(Json(page))
}

/// Enters a worker instance, or what is new about it.
pub(crate) async fn register(
    State(ff): State<Runtime>,
    Instance(instance): Instance,
    Body(call): Body<RegisterWorker>,
) -> Result<Json<RegisteredWorker>> {
    Ok(Json(ff.backend().register_worker(call.into_args(instance)).await?))
}

/// Notes that a worker instance is there.
pub(crate) async fn heartbeat(
    State(ff): State<Runtime>,
    Instance(instance): Instance,
    Body(call): Body<Heartbeat>,
) -> Result<Json<SeenWorker>> {
    Ok(Json(ff.backend().heartbeat(call.into_args(instance)).await?))
}

/// Takes out a worker instance.
pub(crate) async fn leave(
    State(ff): State<Runtime>,
    Instance(instance): Instance,
    Body(call): Body<Leave>,
) -> Result<Json<LeftWorker>> {
    Ok(Json(ff.backend().leave(call.into_args(instance)).await?))
}
