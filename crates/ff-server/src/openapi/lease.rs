//! The routes of leases: the worker protocol, and an operator's way to take a lease away.

use ff_api::{Claim, Claims, WorkerBatch, WorkerBatchReply};
use ff_core::contracts::Control;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/workers/{instance}/claim", "Hands out work, waiting for some if asked to.")
        .takes::<Claim>(Claim::BODY_BYTES)
        .answers::<Claims>(200, "What was claimed: nothing, when there was none in time.")
        .done();
    api.post("/v1/worker/batch", "Takes up to a thousand calls of a worker, each with its own outcome.")
        .takes::<WorkerBatch>(WorkerBatch::BODY_BYTES)
        .answers::<WorkerBatchReply>(200, "What became of each, in the order they were sent.")
        .done();
    api.get("/v1/workers/{instance}/control", "Tells an instance which of its leases it lost.")
        .cursor("after")
        .wait()
        .answers::<Control>(200, "The leases lost since.")
        .done();
}
