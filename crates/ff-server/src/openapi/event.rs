//! The routes of events.

use ff_core::contracts::EventsPage;

use super::builder::OpenApiBuilder;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/events", "Lists the events since a cursor, or streams them.")
        .answers::<EventsPage>(200, "One page, and the cursor of the next.")
        .streams("Each page as an `events` event, until the server stops.")
        .done();
    api.get("/v1/executions/{id}/events", "Lists the events of an execution since a cursor, or streams them.")
        .answers::<EventsPage>(200, "One page, and the cursor of the next.")
        .streams("The state as an `execution` event, each page as an `events` event, and the end as an `end` event.")
        .done();
}
