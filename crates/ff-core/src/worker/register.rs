//! Registering: a worker instance says that it is there, and what it takes.

use super::contracts::{RegisterWorkerArgs, RegisteredWorker};
use super::{Worker, WorkerChange};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::view::{Stop, View};

impl Command for RegisterWorkerArgs {
    type Reply = RegisteredWorker;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Enters a worker instance, or what is new about one that is there already. Another worker's name cannot be taken while
    /// that one lives.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RegisteredWorker>, Stop> {
        let now = at.now;
        let known = view.worker(&self.worker_instance_id)?.filter(|known| !known.is_gone(now));
        if known.is_some_and(|known| (&known.worker_id, &known.namespace) != (&self.worker_id, &self.namespace)) {
            let refusal = Code::IdempotencyConflict.refusal().at("worker_instance_id");
            return Err(refusal.because("is the name of another worker that is there").into());
        }
        let worker = Worker {
            worker_instance_id: self.worker_instance_id.clone(),
            worker_id: self.worker_id.clone(),
            namespace: self.namespace.clone(),
            lanes: self.lanes.clone(),
            kinds: self.kinds.clone(),
            capabilities: self.capabilities.clone(),
            registered_at: known.map_or(now, |known| known.registered_at),
            seen_at: now,
            ttl_ms: self.ttl_ms,
            partition: self.partition(&at.partitions),
        };
        let registered = RegisteredWorker { expires_at: worker.expires_at(), already: known.is_some() };
        Ok(Decision::about_worker(registered, Some(WorkerChange::Put(worker))))
    }
}
