//! Leaving: a worker instance says that it goes.

use super::contracts::{LeaveArgs, LeftWorker};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::view::{Stop, View};

impl Command for LeaveArgs {
    type Reply = LeftWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Takes out a worker instance. What it holds is its own to finish or to lose.
    fn decide(&self, view: &dyn View, _: &Conditions) -> Result<Decision<LeftWorker>, Stop> {
        let known = view.worker(&self.worker_instance_id)?.filter(|known| known.namespace == self.namespace);
        Ok(Decision::about_worker(LeftWorker { already: known.is_none() }, known.map(|known| known.removed())))
    }
}
