//! The doctor over HTTP: checks the invariants of the store while it is in use.

use axum::Json;
use axum::extract::State;
use ff_api::{DoctorQuery, DoctorReport};
use ff_scheduler::Runtime;

use crate::request::params::Params;
use crate::response::problem::Result;

/// Examines one partition, or all if none is named, and reports the findings.
pub(crate) async fn examine(
    State(ff): State<Runtime>,
    Params(query): Params<DoctorQuery>,
) -> Result<Json<DoctorReport>> {
    let partitions = match query.partition {
        Some(partition) => vec![partition],
        None => (0..ff.backend().partitions().num_flow_partitions).collect(),
    };
    let mut report = DoctorReport::default();
    for partition in partitions {
        let examined = ff.examine_partition(partition).await?;
        report.add(DoctorReport::of_partition(examined.executions, examined.findings));
    }
    Ok(Json(report))
}
