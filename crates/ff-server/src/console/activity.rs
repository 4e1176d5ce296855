//! The activity of the last hour, over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{Activity, ActivityQuery};
use ff_scheduler::Runtime;

use crate::metrics::Metrics;
use crate::request::params::Params;
use crate::response::problem::Result;

/// Returns the executions that ended in the last hour, as counted by this server.
pub(crate) async fn show(
    State(ff): State<Runtime>,
    State(metrics): State<Option<Metrics>>,
    Params(query): Params<ActivityQuery>,
) -> Result<Json<Activity>> {
    let Some(metrics) = metrics else { return Ok(Json(Activity::default())) };
    let now = ff.engine_store().now().await?;
    Ok(Json(metrics.activity(query.namespace.as_ref(), now)))
}
