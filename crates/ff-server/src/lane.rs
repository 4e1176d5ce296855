//! The domain of lanes over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{ConfigureLane, LanesPage, LanesQuery, NamespaceQuery};
use ff_core::contracts::{LaneInfo, ListLanesArgs};
use ff_core::engine_error::Code;
use ff_core::explain::LaneExplanation;
use ff_core::types::{LaneId, Namespace};
use ff_scheduler::Runtime;

use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::Lane;
use crate::response::problem::Result;

/// Lists lanes ordered by key, a page at a time.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<LanesQuery>) -> Result<Json<LanesPage>> {
    let after = query.after.map(|key| LaneId::parse_key(&key)).transpose();
    let after = after.map_err(|error| Code::InvalidCursor.refusal().at("after").because(error.to_string()))?;
    let args = ListLanesArgs {
        namespace: query.namespace,
        after,
        limit: query.limit.unwrap_or_default().0,
        finished: query.finished.unwrap_or(true),
    };
    Ok(Json(ff.backend().list_lanes(args).await?.into()))
}

/// Returns the settings of a lane and its executions by state.
pub(crate) async fn describe(
    State(ff): State<Runtime>,
    Lane(lane): Lane,
    Params(query): Params<NamespaceQuery>,
) -> Result<Json<LaneInfo>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().describe_lane(&namespace, &lane).await?))
}

/// Explains why executions of a lane do not run, grouped by reason.
pub(crate) async fn explain(
    State(ff): State<Runtime>,
    Lane(lane): Lane,
    Params(query): Params<NamespaceQuery>,
) -> Result<Json<LaneExplanation>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().explain_lane(&namespace, &lane).await?))
}

/// Pauses, drains or resumes a lane, and changes its settings.
pub(crate) async fn configure(
    State(ff): State<Runtime>,
    Lane(lane): Lane,
    Body(configure): Body<ConfigureLane>,
) -> Result<Json<LaneInfo>> {
    Ok(Json(ff.backend().configure_lane(configure.into_args(lane)).await?))
}
