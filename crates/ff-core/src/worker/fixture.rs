//! A fixture for tests of workers. The doctor examines the worker's partition after every step.

use super::contracts::RegisterWorkerArgs;
use crate::doctor::examine;
use crate::engine_error::Refusal;
use crate::model::Model;
use crate::operation::Ask;
use crate::partition::worker_partition;
use crate::rule::samples::conditions;
use crate::types::{Capability, TimestampMs, WorkerId, WorkerInstanceId};
use crate::worker::Worker;

/// A model for one worker instance.
#[derive(Default)]
pub(super) struct WorkerFixture {
    pub(super) model: Model,
}

impl WorkerFixture {
    pub(super) fn ask<A: Ask>(&mut self, args: A, now: TimestampMs) -> Result<A::Answer, Refusal> {
        let at = conditions(now);
        let (reply, _) = self.model.execute(&args.into_operation(), &at)?;
        let home = worker_partition(&instance(), &at.partitions);
        assert_eq!(examine(&self.model.snapshot(home), home, now), []);
        Ok(A::answer(reply).unwrap())
    }
}

pub(super) fn instance() -> WorkerInstanceId {
    WorkerInstanceId::parse("resizer-1").unwrap()
}

/// Returns a worker that takes any kind from the lane `default`.
pub(crate) fn known_worker() -> Worker {
    let mut workers = WorkerFixture::default();
    workers.ask(registration(), TimestampMs(0)).unwrap();
    workers.model.workers().next().unwrap().clone()
}

pub(super) fn registration() -> RegisterWorkerArgs {
    RegisterWorkerArgs {
        capabilities: [Capability::parse("gpu=a100").unwrap()].into(),
        ttl_ms: 1_000,
        ..RegisterWorkerArgs::new(instance(), WorkerId::parse("resizer").unwrap())
    }
}
