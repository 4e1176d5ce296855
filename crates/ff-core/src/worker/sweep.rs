//! Sweeping: worker instances that went without a word are taken out.

use super::contracts::{SweepWorkerArgs, SweptWorker};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::view::{Stop, View};

impl Command for SweepWorkerArgs {
    type Reply = SweptWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Takes out a worker instance if it is gone; one that was heard of meanwhile stays.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SweptWorker>, Stop> {
        let gone = view.worker(&self.worker_instance_id)?.filter(|known| known.is_gone(at.now));
        Ok(Decision::about_worker(SweptWorker { gone: gone.is_some() }, gone.map(|known| known.removed())))
    }
}
