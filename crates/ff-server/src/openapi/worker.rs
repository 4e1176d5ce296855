//! The routes of workers, and of the leases they claim.

use ff_api::{Claim, Claims, Grants, WorkerBatch, WorkerBatchReply};
use ff_core::contracts::{Control, WorkersPage};
use ff_core::types::{Namespace, WorkerInstanceId};

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/workers", "Lists the worker instances that are there.")
        .query::<Namespace>("namespace", "Of this namespace; of all unless given.")
        .query::<WorkerInstanceId>("after", "The last of the page before.")
        .limit()
        .answers::<WorkersPage>(200, "A page of them.")
        .done();
    api.get("/v1/grants", "Lists what is assigned to worker instances, newest executions first.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .query::<WorkerInstanceId>("worker", "Only what is assigned to this one; a page may have less than it could.")
        .cursor("cursor")
        .limit()
        .answers::<Grants>(200, "A page of them, and where the next begins.")
        .done();
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
