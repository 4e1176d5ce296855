//! The record of a worker instance, as the worker reports it. No lease depends on
//! it: leases record the work that a worker holds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::types::{Capability, Kind, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

/// A running instance of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Worker {
    pub worker_instance_id: WorkerInstanceId,
    pub worker_id: WorkerId,
    pub namespace: Namespace,
    /// Lanes it claims from.
    pub lanes: BTreeSet<LaneId>,
    /// Kinds it handles; any kind when empty.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub kinds: BTreeSet<Kind>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub capabilities: BTreeSet<Capability>,
    pub registered_at: TimestampMs,
    /// When it was last seen.
    pub seen_at: TimestampMs,
    /// How long it stays registered after `seen_at`.
    pub ttl_ms: u64,
    /// Partition of its registration.
    pub partition: u16,
}

/// The change of a worker instance's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerChange {
    Put(Worker),
    Remove { worker_instance_id: WorkerInstanceId, partition: u16 },
}

impl Worker {
    /// Returns when the worker counts as gone, unless it sends a heartbeat before.
    pub fn expires_at(&self) -> TimestampMs {
        self.seen_at + self.ttl_ms
    }

    pub fn is_gone(&self, now: TimestampMs) -> bool {
        now >= self.expires_at()
    }

    pub(super) fn removed(&self) -> WorkerChange {
        let worker_instance_id = self.worker_instance_id.clone();
        WorkerChange::Remove { worker_instance_id, partition: self.partition }
    }
}
