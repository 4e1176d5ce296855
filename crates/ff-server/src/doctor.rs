//! The doctor over HTTP: checks the invariants of the store beneath, while it serves.

use axum::Json;
use axum::extract::State;
use ff_sdk::FlowFabric;
use ff_sdk::http::wire::DoctorReport;

use crate::params::Params;
use crate::problem::Result;

/// Examines one partition, or all of them when none is named, and tells what is wrong: nothing, most of the time.
pub(crate) async fn examine(State(ff): State<FlowFabric>, mut params: Params) -> Result<Json<DoctorReport>> {
    let partition = params.number("partition")?;
    params.done()?;
    Ok(Json(match partition {
        Some(partition) => ff.examine_partition(partition).await?,
        None => ff.examine(|_| {}).await?,
    }))
}
