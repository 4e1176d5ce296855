//! The routes of executions.

use ff_api::{Batch, BatchReply, Bulk, Encoding, ExecutionEnd, Page, PayloadView, Submit};
use ff_core::contracts::{Attempts, BulkPage, ExecutionInfo, SubmittedExecution};
use ff_core::explain::Explanation;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{IdempotencyKey, Kind, LaneId, Namespace, TagValue};
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/executions", "Creates an execution, or finds the one already created under the same key.")
        .repeatable::<IdempotencyKey>()
        .takes::<Submit>(Submit::BODY_BYTES)
        .answers::<SubmittedExecution>(201, "It was created.")
        .answers::<SubmittedExecution>(200, "It was there already.")
        .refused(&[409])
        .done();
    api.get("/v1/executions", "Lists executions, newest first.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .query::<LaneId>("lane", "Of this lane.")
        .query::<PublicState>("state", "In this state.")
        .query::<BlockingReason>(
            "blocking_reason",
            "Waiting for this, of what admission asks for: `waiting_for_capable_worker`, `waiting_for_quota`, \
             `waiting_for_budget`, `paused_by_operator` or `waiting_for_locality_match`.",
        )
        .query::<Kind>("kind", "Of this kind.")
        .query::<TagValue>("tag.KEY", "With this label; the name of the parameter ends in its key. Up to 8 of them.")
        .query_of("created_from", json!({ "type": "integer" }), "Created then or later.")
        .query_of("created_until", json!({ "type": "integer" }), "Created before then.")
        .cursor("cursor")
        .limit()
        .answers::<Page>(200, "A page of them, and where the next begins.")
        .done();
    api.post("/v1/executions/batch", "Creates up to a thousand executions, each with its own outcome.")
        .takes::<Batch>(Batch::BODY_BYTES)
        .answers::<BatchReply>(200, "What became of each, in their order.")
        .done();
    api.post("/v1/executions/bulk", "Cancels, holds, releases or replays whatever a filter means, a page at a time.")
        .takes::<Bulk>(Bulk::BODY_BYTES)
        .answers::<BulkPage>(200, "What was done, and where the next page begins.")
        .done();
    api.get("/v1/executions/{id}", "Says how an execution stands.")
        .answers::<ExecutionInfo>(200, "How it stands.")
        .done();
    api.get("/v1/executions/{id}/explain", "Says why an execution does not run, and what would help.")
        .answers::<Explanation>(200, "Every term with its verdict, what changes it next, and commands that help.")
        .done();
    api.get("/v1/executions/{id}/payload", "Gives back the bytes that were submitted.")
        .query::<Encoding>("encoding", "As JSON instead, in this encoding.")
        .answers::<PayloadView>(200, "The bytes as they are, or as JSON.")
        .answers_a(200, "*/*", json!({}), "")
        .done();
    api.get("/v1/executions/{id}/result", "Says how an execution ended, waiting for its end if asked to.")
        .wait()
        .query::<Encoding>("encoding", "How bytes are written that are not JSON.")
        .answers::<ExecutionEnd>(200, "How it ended, with what it produced.")
        .refused(&[409])
        .done();
    api.get("/v1/executions/{id}/attempts", "Tells every try at an execution.")
        .answers::<Attempts>(200, "Its tries, and the leases that were taken away or given up.")
        .done();
}
