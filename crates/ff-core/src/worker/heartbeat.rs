//! Heartbeats: a worker instance reports that it is alive.

use serde::{Deserialize, Serialize};

use super::{Worker, WorkerChange};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::rule::view::{Stop, View};
use crate::types::{Namespace, TimestampMs, WorkerInstanceId};

/// Keeps a worker instance registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatArgs {
    pub namespace: Namespace,
    pub worker_instance_id: WorkerInstanceId,
}

/// The heartbeat is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeenWorker {
    pub expires_at: TimestampMs,
}

impl Command for HeartbeatArgs {
    type Reply = SeenWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Records that a worker instance is alive. An instance that counts as gone is refused, so that it registers again.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SeenWorker>, Stop> {
        let now = at.now;
        let known = view.worker(&self.worker_instance_id)?.filter(|known| known.namespace == self.namespace);
        let known = known.filter(|known| !known.is_gone(now)).ok_or_else(gone)?;
        let worker = Worker { seen_at: now, ..known.clone() };
        let seen = SeenWorker { expires_at: worker.expires_at() };
        Ok(Decision::about_worker(seen, Some(WorkerChange::Put(worker))))
    }
}

fn gone() -> Refusal {
    let why = "was never registered, or was not heard of for too long; register again";
    Code::NotFound.refusal().at("worker_instance_id").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use crate::worker::fixture::{WorkerFixture, instance, registration};

    #[test]
    fn a_heartbeat_keeps_a_worker_and_fails_after_its_expiry() {
        let mut workers = WorkerFixture::default();
        let beat = || HeartbeatArgs { namespace: Namespace::default_name(), worker_instance_id: instance() };
        assert_eq!(workers.ask(beat(), at(0)).unwrap_err().code, Code::NotFound);
        workers.ask(registration(), at(0)).unwrap();
        assert_eq!(workers.ask(beat(), at(999)).unwrap().expires_at, at(1_999));
        assert_eq!(workers.ask(beat(), at(1_999)).unwrap_err().code, Code::NotFound);
        let again = workers.ask(registration(), at(2_000)).unwrap();
        assert!(!again.already, "it begins anew");
    }
}
