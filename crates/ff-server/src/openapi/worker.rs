//! The routes of workers, and of the leases they claim.

use ff_api::{Claim, Claims, Grants, WorkerBatch, WorkerBatchReply};
use ff_core::contracts::{Control, WorkersPage};

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/workers", "Lists the registered worker instances.").answers::<WorkersPage>(200, "One page.").done();
    api.get("/v1/grants", "Lists assigned executions, newest first.")
        .answers::<Grants>(200, "One page, and the cursor of the next.")
        .done();
    api.post("/v1/workers/{instance}/claim", "Claims work; with `wait_ms`, waits for it.")
        .takes::<Claim>(Claim::BODY_BYTES)
        .answers::<Claims>(200, "Claimed executions; empty when no work arrived in time.")
        .done();
    api.post("/v1/worker/batch", "Executes up to 1000 calls of a worker, each with its own result.")
        .takes::<WorkerBatch>(WorkerBatch::BODY_BYTES)
        .answers::<WorkerBatchReply>(200, "Results, in request order.")
        .done();
    api.get("/v1/workers/{instance}/control", "Lists the leases that a worker instance has lost.")
        .answers::<Control>(200, "Leases lost since the cursor.")
        .done();
}
