//! The domain of steps over HTTP. Recording a step and forking an execution are in the call table.

use axum::Json;
use axum::extract::State;
use ff_api::{StepsPage, StepsQuery};
use ff_core::contracts::ListStepsArgs;
use ff_scheduler::Runtime;

use crate::request::params::Params;
use crate::request::path::Id;
use crate::response::problem::Result;

/// Lists the recorded steps of an execution with their results, in the order of recording.
pub(crate) async fn list(
    State(ff): State<Runtime>,
    Id(id): Id,
    Params(query): Params<StepsQuery>,
) -> Result<Json<StepsPage>> {
    let args = ListStepsArgs { execution_id: id, after: query.after, limit: query.limit.unwrap_or_default().0 };
    Ok(Json(StepsPage::of(ff.backend().list_steps(args).await?)))
}
