//! Attempts at an execution.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::lease::Holder;
use crate::types::{AttemptId, AttemptIndex, Kind, LeaseEpoch, TimestampMs};

/// One attempt at an execution. It may be suspended and resumed before it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attempt {
    pub index: AttemptIndex,
    pub id: AttemptId,
    #[serde(flatten)]
    pub origin: Origin,
    pub started_at: TimestampMs,
    /// The worker that holds or last held it.
    #[serde(flatten)]
    pub holder: Holder,
    pub lease_epoch: LeaseEpoch,
    /// Run time of earlier leases of this attempt; it counts towards the attempt timeout.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ran_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AttemptEnd>,
}

/// The attempt under way, or the origin of the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptSlot {
    /// Running, or interrupted and to be resumed.
    Open(Attempt),
    /// The origin of the attempt that the next claim starts.
    Next(Origin),
}

impl Default for AttemptSlot {
    fn default() -> Self {
        Self::Next(Origin::Initial)
    }
}

impl AttemptSlot {
    /// Returns whether the first attempt is still to come.
    pub(crate) fn is_initial(&self) -> bool {
        *self == Self::default()
    }
}

/// Why an attempt was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Origin {
    Initial,
    /// The previous attempt failed.
    Retry {
        of: AttemptIndex,
    },
    /// The previous attempt lost its lease.
    Reclaim {
        of: AttemptIndex,
    },
    /// A replay was requested after the execution had ended.
    Replay {
        /// The previous attempt, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<AttemptIndex>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
    },
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AttemptEnd {
    pub at: TimestampMs,
    pub outcome: AttemptOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    Success,
    Failure,
    TimedOut,
    LeaseExpired,
    LeaseRevoked,
    Cancelled,
    DeadlinePassed,
    SuspensionTimedOut,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failure {
    /// Category of the failure; retry policies can select by it.
    pub category: Kind,
    pub message: String,
    /// A permanent failure is not retried, even if the policy allows more attempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub permanent: bool,
}

impl Failure {
    /// The category of an attempt that ran too long.
    pub const TIMEOUT: &str = "timeout";
    /// The category of an execution whose leases expired too often.
    pub const MAX_RECLAIMS_EXCEEDED: &str = "max_reclaims_exceeded";

    /// The category of an execution whose suspension was not ended in time.
    pub const SUSPENSION_TIMEOUT: &str = "suspension_timeout";

    /// A failure the engine itself reports.
    pub(crate) fn by_engine(category: Kind, message: String) -> Self {
        Self { category, message, permanent: false }
    }
}
