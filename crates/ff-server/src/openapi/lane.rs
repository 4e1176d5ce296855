//! The routes of lanes.

use ff_api::{ConfigureLane, LanesPage};
use ff_core::contracts::LaneInfo;
use ff_core::explain::LaneExplanation;
use ff_core::types::Namespace;
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/lanes", "Lists the lanes that were configured or have executions.")
        .query::<Namespace>("namespace", "Only this namespace (default: all).")
        .cursor("after")
        .limit()
        .query_of("finished", json!({ "type": "boolean", "default": true }), "Whether to count finished executions.")
        .answers::<LanesPage>(200, "One page.")
        .done();
    api.get("/v1/lanes/{lane}", "Returns the settings of a lane and its executions by state.")
        .query::<Namespace>("namespace", "The namespace (default: `default`).")
        .answers::<LaneInfo>(200, "Its state.")
        .done();
    api.get("/v1/lanes/{lane}/explain", "Explains why executions of a lane do not run, grouped by reason.")
        .query::<Namespace>("namespace", "The namespace (default: `default`).")
        .answers::<LaneExplanation>(200, "Reasons, the one with most executions first, and suggested actions.")
        .done();
    api.post("/v1/lanes/{lane}", "Pauses, drains or resumes a lane, and changes its settings.")
        .takes::<ConfigureLane>(ConfigureLane::BODY_BYTES)
        .answers::<LaneInfo>(200, "The lane as it is now.")
        .done();
}
