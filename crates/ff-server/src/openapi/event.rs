//! The routes of events.

use ff_core::contracts::EventsPage;
use ff_core::types::{ExecutionId, Namespace};

use super::builder::OpenApiBuilder;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/events", "Tells what happened anywhere since a cursor, or pushes it.")
        .cursor("after")
        .query::<Namespace>("namespace", "Of this namespace; of all unless given.")
        .query::<ExecutionId>("execution_id", "Of one execution.")
        .limit()
        .wait()
        .answers::<EventsPage>(200, "Some of it, and where to go on.")
        .streams("Each such answer as `events`, for as long as the server serves.")
        .done();
    api.get("/v1/executions/{id}/events", "Tells what happened to one execution since a cursor, or pushes it.")
        .cursor("after")
        .query::<Namespace>("namespace", "Of this namespace; of any unless given.")
        .limit()
        .wait()
        .answers::<EventsPage>(200, "Some of it, and where to go on.")
        .streams("How it stands as `execution`, each such answer as `events`, and its end as `end`.")
        .done();
}
