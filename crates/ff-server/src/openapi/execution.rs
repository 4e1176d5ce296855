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
        .answers::<SubmittedExecution>(200, "It already existed.")
        .refused(&[409])
        .done();
    api.get("/v1/executions", "Lists executions, newest first.")
        .query::<Namespace>("namespace", "The namespace (default: `default`).")
        .query::<LaneId>("lane", "Only this lane.")
        .query::<PublicState>("state", "Only this state.")
        .query::<BlockingReason>(
            "blocking_reason",
            "Only executions blocked for this reason: `waiting_for_capable_worker`, `waiting_for_quota`, \
             `waiting_for_budget`, `paused_by_operator` or `waiting_for_locality_match`.",
        )
        .query::<Kind>("kind", "Only this kind.")
        .query::<TagValue>("tag.KEY", "Only executions with this tag; the parameter name ends in its key. At most 8.")
        .query_of("created_from", json!({ "type": "integer" }), "Created at this time or later.")
        .query_of("created_until", json!({ "type": "integer" }), "Created before this time.")
        .cursor("cursor")
        .limit()
        .answers::<Page>(200, "One page, and the cursor of the next.")
        .done();
    api.post("/v1/executions/batch", "Creates up to 1000 executions, each with its own result.")
        .takes::<Batch>(Batch::BODY_BYTES)
        .answers::<BatchReply>(200, "Results, in request order.")
        .done();
    api.post(
        "/v1/executions/bulk",
        "Cancels, holds, releases or replays the executions that match a filter, page by page.",
    )
    .takes::<Bulk>(Bulk::BODY_BYTES)
    .answers::<BulkPage>(200, "The result, and the cursor of the next page.")
    .done();
    api.get("/v1/executions/{id}", "Returns an execution and its state.")
        .answers::<ExecutionInfo>(200, "Its state.")
        .done();
    api.get("/v1/executions/{id}/explain", "Explains why an execution does not run, and suggests actions.")
        .answers::<Explanation>(200, "All conditions with their verdicts, the next event, and suggested commands.")
        .done();
    api.get("/v1/executions/{id}/payload", "Returns the submitted payload.")
        .query::<Encoding>("encoding", "Return JSON instead, in this encoding.")
        .answers::<PayloadView>(200, "The raw bytes, or JSON.")
        .answers_a(200, "*/*", json!({}), "")
        .done();
    api.get("/v1/executions/{id}/result", "Returns how an execution ended; with `wait_ms`, waits for its end.")
        .wait()
        .query::<Encoding>("encoding", "How payloads are encoded.")
        .answers::<ExecutionEnd>(200, "How it ended, with its result.")
        .refused(&[409])
        .done();
    api.get("/v1/executions/{id}/attempts", "Lists the attempts of an execution.")
        .answers::<Attempts>(200, "Its attempts, and its expired, revoked and released leases.")
        .done();
}
