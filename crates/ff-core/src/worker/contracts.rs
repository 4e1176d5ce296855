//! What workers say of themselves, what others ask about them, and what they are told.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::types::{Capability, Kind, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use crate::worker::Worker;

/// A worker instance says that it is there, and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterWorkerArgs {
    pub worker_instance_id: WorkerInstanceId,
    pub worker_id: WorkerId,
    pub namespace: Namespace,
    pub lanes: BTreeSet<LaneId>,
    /// Any when none is named.
    pub kinds: BTreeSet<Kind>,
    pub capabilities: BTreeSet<Capability>,
    /// For how long it counts as there without being heard of.
    pub ttl_ms: u64,
}

impl RegisterWorkerArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.lanes.is_empty() {
            return Err(Refusal::invalid("lanes", "must name at least one lane"));
        }
        at_most(Code::LimitExceeded, "lanes", limits::CLAIM_LANES, self.lanes.len())?;
        at_most(Code::LimitExceeded, "kinds", limits::CLAIM_KINDS, self.kinds.len())?;
        at_most(Code::InvalidCapabilities, "capabilities", limits::CAPABILITIES, self.capabilities.len())?;
        let bytes = self.capabilities.iter().map(|capability| capability.as_str().len()).sum();
        at_most(Code::InvalidCapabilities, "capabilities", limits::CAPABILITY_BYTES, bytes)?;
        let (low, high) = (limits::WORKER_TTL_MIN_MS, limits::WORKER_TTL_MAX_MS);
        if (low..=high).contains(&self.ttl_ms) {
            return Ok(());
        }
        let mut refusal = Refusal::new(Code::LimitExceeded).at("ttl_ms");
        refusal.limit = Some((if self.ttl_ms < low { low } else { high }, self.ttl_ms));
        Err(refusal.because(format!("must be from {low} to {high}, got {}", self.ttl_ms)))
    }
}

impl RegisterWorkerArgs {
    /// Whether a worker takes up room that this one needs: another of its namespace that is there.
    pub fn is_beside(&self, other: &Worker, now: TimestampMs) -> bool {
        other.namespace == self.namespace && other.worker_instance_id != self.worker_instance_id && !other.is_gone(now)
    }

    /// Refuses a worker for which its namespace has no room beside so many others. Stores count them ahead of the step that
    /// registers, so that a few that come at the same moment may all get in.
    pub fn check_room(&self, others: usize) -> Result<(), Refusal> {
        if others < limits::WORKERS {
            return Ok(());
        }
        let refusal = Refusal::over_limit(Code::LimitExceeded, "worker_instance_id", limits::WORKERS, others + 1);
        let why =
            format!("the namespace {} has {} registered workers; others must leave first", self.namespace, others);
        Err(refusal.because(why))
    }
}

fn at_most(code: Code, field: &str, limit: usize, sent: usize) -> Result<(), Refusal> {
    if sent > limit { Err(Refusal::over_limit(code, field, limit, sent)) } else { Ok(()) }
}

/// The worker instance is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisteredWorker {
    /// When it counts as gone, unless it is heard of before.
    pub expires_at: TimestampMs,
    /// True when it was known before, and what is known of it was renewed.
    pub already: bool,
}

/// A worker instance says that it is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatArgs {
    pub namespace: Namespace,
    pub worker_instance_id: WorkerInstanceId,
}

/// It was heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenWorker {
    pub expires_at: TimestampMs,
}

/// A worker instance goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaveArgs {
    pub namespace: Namespace,
    pub worker_instance_id: WorkerInstanceId,
}

/// It is not known any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftWorker {
    /// True when it was not known before either.
    pub already: bool,
}

/// An engine takes out a worker instance that went without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepWorkerArgs {
    pub worker_instance_id: WorkerInstanceId,
}

/// Whether it was gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptWorker {
    pub gone: bool,
}

/// Which worker instances to list: those that are there, by their ids, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListWorkersArgs {
    /// One tenant's; everybody's when not said.
    pub namespace: Option<Namespace>,
    pub after: Option<WorkerInstanceId>,
    pub limit: usize,
}

impl ListWorkersArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            sent => at_most(Code::LimitExceeded, "limit", limits::PAGE, sent),
        }
    }

    /// Whether a worker instance is among those asked for.
    pub fn wants(&self, worker: &Worker, now: TimestampMs) -> bool {
        !worker.is_gone(now)
            && self.namespace.as_ref().is_none_or(|namespace| worker.namespace == *namespace)
            && self.after.as_ref().is_none_or(|after| worker.worker_instance_id > *after)
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkersPage {
    pub workers: Vec<Worker>,
    /// Where the next page starts; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<WorkerInstanceId>,
}
