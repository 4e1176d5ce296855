//! Sweeping: worker instances whose heartbeats have stopped are removed.

use serde::{Deserialize, Serialize};

use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::rule::view::{Stop, View};
use crate::types::WorkerInstanceId;

/// Removes a worker instance whose heartbeats have stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepWorkerArgs {
    pub worker_instance_id: WorkerInstanceId,
}

/// The result of a sweep: whether the worker instance was gone, and therefore removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptWorker {
    pub gone: bool,
}

impl Command for SweepWorkerArgs {
    type Reply = SweptWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Removes a worker instance if it is gone. An instance that has sent a heartbeat in the meantime stays.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SweptWorker>, Stop> {
        let gone = view.worker(&self.worker_instance_id)?.filter(|known| known.is_gone(at.now));
        Ok(Decision::about_worker(SweptWorker { gone: gone.is_some() }, gone.map(|known| known.removed())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use crate::worker::fixture::{WorkerFixture, instance, registration};

    #[test]
    fn a_sweep_takes_out_only_what_is_gone() {
        let mut workers = WorkerFixture::default();
        let sweep = || SweepWorkerArgs { worker_instance_id: instance() };
        workers.ask(registration(), at(0)).unwrap();
        assert_eq!(workers.ask(sweep(), at(999)), Ok(SweptWorker { gone: false }));
        assert_eq!(workers.ask(sweep(), at(1_000)), Ok(SweptWorker { gone: true }));
        assert_eq!(workers.ask(sweep(), at(1_000)), Ok(SweptWorker { gone: false }), "another sweep was first");
    }
}
