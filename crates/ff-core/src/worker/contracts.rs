//! Arguments and replies about workers.

use serde::{Deserialize, Serialize};

use crate::types::{Namespace, TimestampMs, WorkerInstanceId};
use crate::worker::Worker;

pub use super::heartbeat::{HeartbeatArgs, SeenWorker};
pub use super::leave::{LeaveArgs, LeftWorker};
pub use super::register::{RegisterWorkerArgs, RegisteredWorker, check_capabilities};
pub use super::sweep::{SweepWorkerArgs, SweptWorker};

/// A request for the worker instances that are alive, ordered by their ids, one page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListWorkersArgs {
    /// Lists only worker instances of this namespace; those of all namespaces when absent.
    pub namespace: Option<Namespace>,
    pub after: Option<WorkerInstanceId>,
    pub limit: usize,
}

impl ListWorkersArgs {
    /// Returns whether a worker instance matches the request.
    pub fn wants(&self, worker: &Worker, now: TimestampMs) -> bool {
        !worker.is_gone(now)
            && self.namespace.as_ref().is_none_or(|namespace| worker.namespace == *namespace)
            && self.after.as_ref().is_none_or(|after| worker.worker_instance_id > *after)
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkersPage {
    pub workers: Vec<Worker>,
    /// Start of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<WorkerInstanceId>,
}
