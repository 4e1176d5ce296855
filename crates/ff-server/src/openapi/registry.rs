//! The routes of lanes, workers and events.

use ff_api::{ConfigureLane, LanesPage};
use ff_core::contracts::{EventsPage, LaneInfo, WorkersPage};
use ff_core::types::{ExecutionId, Namespace, WorkerInstanceId};
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/lanes", "Lists the lanes somebody configured and those that have something.")
        .query::<Namespace>("namespace", "Whose; everybody's unless said.")
        .cursor("after")
        .limit()
        .query_of("finished", json!({ "type": "boolean", "default": true }), "Whether to count what has finished.")
        .answers::<LanesPage>(200, "A page of them.")
        .done();
    api.get("/v1/lanes/{lane}", "Says how a lane is configured, and how much of it is where.")
        .query::<Namespace>("namespace", "Whose; `default` unless said.")
        .answers::<LaneInfo>(200, "How it stands.")
        .done();
    api.post("/v1/lanes/{lane}", "Pauses, drains or opens a lane again, and says how it is to treat its work.")
        .takes::<ConfigureLane>(ConfigureLane::BODY_BYTES)
        .answers::<LaneInfo>(200, "How it stands now.")
        .done();
    api.get("/v1/events", "Tells what happened anywhere since a cursor, or pushes it.")
        .cursor("after")
        .query::<Namespace>("namespace", "Whose; everybody's unless said.")
        .query::<ExecutionId>("execution_id", "Of one execution.")
        .limit()
        .wait()
        .answers::<EventsPage>(200, "Some of it, and where to go on.")
        .streams("Each such answer as `events`, for as long as the server serves.")
        .done();
    api.get("/v1/executions/{id}/events", "Tells what happened to one execution since a cursor, or pushes it.")
        .cursor("after")
        .query::<Namespace>("namespace", "Whose; anybody's unless said.")
        .limit()
        .wait()
        .answers::<EventsPage>(200, "Some of it, and where to go on.")
        .streams("How it stands as `execution`, each such answer as `events`, and its end as `end`.")
        .done();
    api.get("/v1/workers", "Lists the worker instances that are there.")
        .query::<Namespace>("namespace", "Whose; everybody's unless said.")
        .query::<WorkerInstanceId>("after", "The last of the page before.")
        .limit()
        .answers::<WorkersPage>(200, "A page of them.")
        .done();
}
