//! The routes of lanes.

use ff_api::{ConfigureLane, LanesPage};
use ff_core::contracts::LaneInfo;
use ff_core::explain::LaneExplanation;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/lanes", "Lists the lanes that were configured or have executions.")
        .answers::<LanesPage>(200, "One page.")
        .done();
    api.get("/v1/lanes/{lane}", "Returns the settings of a lane and its executions by state.")
        .answers::<LaneInfo>(200, "Its state.")
        .done();
    api.get("/v1/lanes/{lane}/explain", "Explains why executions of a lane do not run, grouped by reason.")
        .answers::<LaneExplanation>(200, "Reasons, the one with most executions first, and suggested actions.")
        .done();
    api.post("/v1/lanes/{lane}", "Pauses, drains or resumes a lane, and changes its settings.")
        .takes::<ConfigureLane>(ConfigureLane::BODY_BYTES)
        .answers::<LaneInfo>(200, "The lane as it is now.")
        .done();
}
