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
        .query::<Namespace>("namespace", "Of this namespace; of all unless given.")
        .cursor("after")
        .limit()
        .query_of("finished", json!({ "type": "boolean", "default": true }), "Whether to count what has finished.")
        .answers::<LanesPage>(200, "A page of them.")
        .done();
    api.get("/v1/lanes/{lane}", "Says how a lane is configured, and how much of it is where.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<LaneInfo>(200, "How it stands.")
        .done();
    api.get("/v1/lanes/{lane}/explain", "Says why the work of a lane does not run, grouped by cause.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<LaneExplanation>(200, "Its causes, that of most of it first, and what would help.")
        .done();
    api.post("/v1/lanes/{lane}", "Pauses, drains or opens a lane again, and says how it is to treat its work.")
        .takes::<ConfigureLane>(ConfigureLane::BODY_BYTES)
        .answers::<LaneInfo>(200, "How it stands now.")
        .done();
}
