//! The domain of workers over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::WorkersQuery;
use ff_core::contracts::{ListWorkersArgs, WorkersPage};
use ff_scheduler::Runtime;

use crate::request::params::Params;
use crate::response::page;
use crate::response::problem::Result;

/// Lists the registered worker instances, ordered by id.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<WorkersQuery>) -> Result<Json<WorkersPage>> {
    let args =
        ListWorkersArgs { namespace: query.namespace, after: query.after, limit: query.limit.unwrap_or_default().0 };
    let mut page = ff.backend().list_workers(args).await?;
    if page::cut(&mut page.workers) {
        page.next = page.workers.last().map(|worker| worker.worker_instance_id.clone());
    }
    Ok(Json(page))
}
