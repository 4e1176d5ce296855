//! Leaving: a worker instance announces that it stops.

use serde::{Deserialize, Serialize};

use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::rule::view::{Stop, View};
use crate::types::{Namespace, WorkerInstanceId};

/// Removes a worker instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaveArgs {
    pub namespace: Namespace,
    pub worker_instance_id: WorkerInstanceId,
}

/// The worker instance is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeftWorker {
    /// True when it was not registered.
    pub already: bool,
}

impl Command for LeaveArgs {
    type Reply = LeftWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Removes a worker instance. The worker keeps its leases until it finishes them or they expire.
    fn decide(&self, view: &dyn View, _: &Conditions) -> Result<Decision<LeftWorker>, Stop> {
        let known = view.worker(&self.worker_instance_id)?.filter(|known| known.namespace == self.namespace);
        Ok(Decision::about_worker(LeftWorker { already: known.is_none() }, known.map(|known| known.removed())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use crate::worker::fixture::{WorkerFixture, instance, registration};

    #[test]
    fn leaving_twice_is_one_leave() {
        let mut workers = WorkerFixture::default();
        let leave = || LeaveArgs { namespace: Namespace::default_name(), worker_instance_id: instance() };
        workers.ask(registration(), at(0)).unwrap();
        assert_eq!(workers.ask(leave(), at(1)), Ok(LeftWorker { already: false }));
        assert_eq!(workers.ask(leave(), at(2)), Ok(LeftWorker { already: true }));
        assert_eq!(workers.model.workers().count(), 0);
    }
}
