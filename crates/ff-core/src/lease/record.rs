//! The record of a lease, while it lasts and after it ended.

use serde::{Deserialize, Serialize};

use crate::lease::fence::{Fence, without_names};
use crate::quota::QuotaSlot;
use crate::types::{AttemptIndex, BadText, TimestampMs, WorkerId, WorkerInstanceId};

/// The worker that holds an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Holder {
    pub worker_id: WorkerId,
    pub worker_instance_id: WorkerInstanceId,
}

impl Holder {
    /// Parses the names of a worker and its instance.
    pub fn parse(worker_id: &str, worker_instance_id: &str) -> Result<Self, BadText> {
        let worker_instance_id = WorkerInstanceId::parse(worker_instance_id)?;
        Ok(Self { worker_id: WorkerId::parse(worker_id)?, worker_instance_id })
    }
}

/// The lease of an execution to one holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    #[serde(serialize_with = "without_names")]
    pub fence: Fence,
    pub holder: Holder,
    pub acquired_at: TimestampMs,
    /// End of the lease. From this time on the holder is refused, even if the expiry was not processed yet.
    pub until: TimestampMs,
    /// The duration a renewal adds by default.
    pub ttl_ms: u64,
    /// Time at which the attempt has run as long as its policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<TimestampMs>,
    /// Whether the lease counts against the limit of its lane. Another execution may start when it ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// Slots of quota policies, to be released when the lease ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<QuotaSlot>,
}

/// The end of a lease, and the reply that its holder got. A holder that repeats a call after it lost the reply gets this
/// reply again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum LeaseEnding {
    #[default]
    Completed,
    Failed {
        /// When the next attempt may start; absent when there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<TimestampMs>,
    },
    Delayed {
        until: TimestampMs,
    },
    Suspended,
    WaitingForChildren,
    Expired,
    Revoked,
    TimedOut,
    Cancelled,
    DeadlinePassed,
}

impl LeaseEnding {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_completion(&self) -> bool {
        *self == Self::Completed
    }

    /// Returns whether the holder lost the lease rather than gave it up, so that it must be notified.
    pub fn is_loss(self) -> bool {
        match self {
            Self::Completed
            | Self::Failed { .. }
            | Self::Delayed { .. }
            | Self::Suspended
            | Self::WaitingForChildren => false,
            Self::Expired | Self::Revoked | Self::TimedOut | Self::Cancelled | Self::DeadlinePassed => true,
        }
    }
}

/// The last lease of an execution that has none now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLease {
    #[serde(serialize_with = "without_names")]
    pub fence: Fence,
    #[serde(default, skip_serializing_if = "LeaseEnding::is_completion")]
    pub ended: LeaseEnding,
}

/// A lease that expired, was revoked or was given up. The history omits leases that ended their attempt with an
/// outcome; the attempt shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeaseEvent {
    pub attempt_index: AttemptIndex,
    #[serde(flatten)]
    pub fence: Fence,
    #[serde(flatten)]
    pub holder: Holder,
    pub acquired_at: TimestampMs,
    pub ended_at: TimestampMs,
    #[serde(flatten)]
    pub ended: LeaseEnding,
    /// Reason for the revocation, if the operator gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
