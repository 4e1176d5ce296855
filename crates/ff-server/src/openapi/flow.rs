//! The routes of flows.

use ff_api::{CancelFlow, FlowCancellation, FlowView, FlowsPage, GrowFlow, Replay, SubmitFlow};
use ff_core::contracts::{EdgesPage, FlowEventsPage, GrownFlow, MembersPage, ReplayedExecution, SubmittedFlow};
use ff_core::types::IdempotencyKey;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/flows", "Creates a flow, complete or held open, or finds the one already created.")
        .repeatable::<IdempotencyKey>()
        .takes::<SubmitFlow>(SubmitFlow::BODY_BYTES)
        .answers::<SubmittedFlow>(201, "It was created.")
        .answers::<SubmittedFlow>(200, "It already existed.")
        .refused(&[404, 409])
        .done();
    api.get("/v1/flows", "Lists flows, newest first.")
        .answers::<FlowsPage>(200, "One page, and the cursor of the next.")
        .done();
    api.get("/v1/flows/{flow}", "Returns a flow; with `wait_ms`, waits for its end.")
        .answers::<FlowView>(200, "The flow, with the first part of its graph.")
        .done();
    api.get("/v1/flows/{flow}/members", "Lists the members of a flow, in the order they were added.")
        .answers::<MembersPage>(200, "One page.")
        .done();
    api.get("/v1/flows/{flow}/edges", "Lists the edges of a flow, ordered by id.")
        .answers::<EdgesPage>(200, "One page.")
        .done();
    api.get("/v1/flows/{flow}/events", "Lists the events of a flow, or streams them.")
        .answers::<FlowEventsPage>(200, "One page, and the cursor of the next.")
        .streams("Each event as a `flow` event, until the flow has ended.")
        .done();
    api.post("/v1/flows/{flow}/grow", "Adds members and edges to a live flow, all or none.")
        .repeatable::<IdempotencyKey>()
        .takes::<GrowFlow>(GrowFlow::BODY_BYTES)
        .answers::<GrownFlow>(200, "The added members and edges.")
        .refused(&[409])
        .done();
    api.post("/v1/flows/{flow}/cancel", "Cancels a flow; with `wait_ms`, waits for its end.")
        .takes::<CancelFlow>(CancelFlow::BODY_BYTES)
        .answers::<FlowCancellation>(200, "It is cancelled.")
        .refused(&[409])
        .done();
    api.post("/v1/flows/{flow}/nodes/{node}/replay", "Runs a finished node again.")
        .takes::<Replay>(Replay::BODY_BYTES)
        .answers::<ReplayedExecution>(200, "It is waiting again.")
        .refused(&[409])
        .done();
}
