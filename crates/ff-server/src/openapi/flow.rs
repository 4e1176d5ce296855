//! The routes of flows.

use ff_api::{CancelFlow, FlowCancellation, FlowView, FlowsPage, GrowFlow, Replay, SubmitFlow};
use ff_core::contracts::{EdgesPage, FlowEventsPage, GrownFlow, MembersPage, ReplayedExecution, SubmittedFlow};
use ff_core::flow::FlowState;
use ff_core::limits;
use ff_core::types::{IdempotencyKey, Kind, Namespace};
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/flows", "Creates a whole flow, or finds it; or makes one that is held open.")
        .repeatable::<IdempotencyKey>()
        .takes::<SubmitFlow>(SubmitFlow::BODY_BYTES)
        .answers::<SubmittedFlow>(201, "It was created.")
        .answers::<SubmittedFlow>(200, "It was there already.")
        .refused(&[404, 409])
        .done();
    api.get("/v1/flows", "Lists flows, newest first.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .query::<Kind>("kind", "Of this kind.")
        .query::<FlowState>("state", "In this state.")
        .query_of("tag", json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+:.+$" }), "With this label: KEY:VALUE.")
        .cursor("cursor")
        .limit()
        .answers::<FlowsPage>(200, "A page of them, and where the next begins.")
        .done();
    api.get("/v1/flows/{flow}", "Says how a flow stands, waiting for its end if asked to.")
        .query_of(
            "graph",
            json!({ "type": "integer", "minimum": 0, "maximum": limits::PAGE, "default": limits::PAGE_DEFAULT }),
            "How many members and edges to tell with it.",
        )
        .wait()
        .answers::<FlowView>(200, "How it stands, with the beginning of its graph.")
        .done();
    api.get("/v1/flows/{flow}/members", "Lists the members of a flow, in the order they were added.")
        .count("from", 0, "From which of them on.")
        .limit()
        .answers::<MembersPage>(200, "A page of them.")
        .done();
    api.get("/v1/flows/{flow}/edges", "Lists the edges of a flow, in the order of their ids.")
        .cursor("after")
        .limit()
        .answers::<EdgesPage>(200, "A page of them.")
        .done();
    api.get("/v1/flows/{flow}/events", "Tells what happened in a flow since, or pushes it.")
        .count("from", 0, "From which number on.")
        .limit()
        .wait()
        .answers::<FlowEventsPage>(200, "Some of it, and where to go on.")
        .streams("Each event as `flow`, until the flow has ended.")
        .done();
    api.post("/v1/flows/{flow}/grow", "Adds members and edges to a flow that lives, all of them or none.")
        .repeatable::<IdempotencyKey>()
        .takes::<GrowFlow>(GrowFlow::BODY_BYTES)
        .answers::<GrownFlow>(200, "What was added.")
        .refused(&[409])
        .done();
    api.post("/v1/flows/{flow}/cancel", "Stops a flow, and waits for its end if asked to.")
        .wait()
        .takes::<CancelFlow>(CancelFlow::BODY_BYTES)
        .answers::<FlowCancellation>(200, "It is stopped.")
        .refused(&[409])
        .done();
    api.post("/v1/flows/{flow}/nodes/{node}/replay", "Runs a finished node again.")
        .takes::<Replay>(Replay::BODY_BYTES)
        .answers::<ReplayedExecution>(200, "It waits again.")
        .refused(&[409])
        .done();
}
