//! The routes of executions.

use ff_api::{Batch, BatchReply, Bulk, ExecutionEnd, Page, PayloadView, Submit};
use ff_core::contracts::{Attempts, BulkPage, ExecutionInfo, SubmittedExecution};
use ff_core::explain::Explanation;
use ff_core::types::IdempotencyKey;
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/executions", "Creates an execution, or finds the one already created under the same key.")
        .repeatable::<IdempotencyKey>()
        .takes::<Submit>(Submit::BODY_BYTES)
        .answers::<SubmittedExecution>(201, "It was created.")
        .answers::<SubmittedExecution>(200, "It already existed.")
        .refused(&[409])
        .done();
    api.get("/v1/executions", "Lists executions, newest first.")
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
        .answers::<PayloadView>(200, "The raw bytes, or JSON.")
        .answers_a(200, "*/*", json!({}), "")
        .done();
    api.get("/v1/executions/{id}/result", "Returns how an execution ended; with `wait_ms`, waits for its end.")
        .answers::<ExecutionEnd>(200, "How it ended, with its result.")
        .refused(&[409])
        .done();
    api.get("/v1/executions/{id}/attempts", "Lists the attempts of an execution.")
        .answers::<Attempts>(200, "Its attempts, and its expired, revoked and released leases.")
        .done();
}
