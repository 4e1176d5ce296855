//! Suspensions and waitpoints as callers see them, without tokens.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::suspension::{
    BoundWaitpoint, Condition, PastSuspension, ResumePolicy, ResumedBy, SuspendReason, SuspendedBy, Suspension,
    TimeoutBehavior, Waitpoint, WaitpointState,
};
use crate::types::{Kid, SignalId, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// A suspension: its condition, its reason and its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SuspensionInfo {
    pub suspension_id: SuspensionId,
    pub suspended_at: TimestampMs,
    pub reason: SuspendReason,
    pub requested_by: SuspendedBy,
    pub waitpoints: Vec<BoundWaitpoint>,
    pub condition: Condition,
    #[serde(default, skip_serializing_if = "ResumePolicy::is_default")]
    pub resume_policy: ResumePolicy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<TimestampMs>,
    pub timeout_behavior: TimeoutBehavior,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated_at: Option<TimestampMs>,
    /// Signals that have counted so far.
    pub signals_counted: usize,
}

impl From<&Suspension> for SuspensionInfo {
    fn from(suspension: &Suspension) -> Self {
        Self {
            suspension_id: suspension.id,
            suspended_at: suspension.at,
            reason: suspension.reason.clone(),
            requested_by: suspension.requested_by.clone(),
            waitpoints: suspension.waitpoints.clone(),
            condition: suspension.condition.clone(),
            resume_policy: suspension.resume_policy.clone(),
            timeout_at: suspension.timeout_at,
            timeout_behavior: suspension.timeout_behavior,
            escalated_at: suspension.escalated_at,
            signals_counted: suspension.tally.counted().count(),
        }
    }
}

/// A waitpoint, without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WaitpointInfo {
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub state: WaitpointState,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<SuspensionId>,
    /// Signals buffered until a suspension waits for them.
    pub buffered: usize,
    pub token_kid: Kid,
    /// Fingerprint of the token, for comparing tokens without showing them.
    pub token_fingerprint: String,
}

impl WaitpointInfo {
    pub fn of(waitpoint: &Waitpoint, state: WaitpointState) -> Self {
        Self {
            waitpoint_id: waitpoint.id,
            waitpoint_key: waitpoint.key.clone(),
            state,
            created_at: waitpoint.created_at,
            expires_at: waitpoint.expires_at,
            suspension_id: waitpoint.suspension_id,
            buffered: waitpoint.buffered.len(),
            token_kid: waitpoint.token.kid.clone(),
            token_fingerprint: waitpoint.token.fingerprint(),
        }
    }
}

/// How the last suspension of an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Resumption {
    pub suspension_id: SuspensionId,
    pub by: ResumedBy,
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<String>,
    /// Signals for the worker.
    pub signals: Vec<SignalId>,
    /// Number of leading signals whose payloads are included. Read the others one by one.
    pub with_payload: usize,
}

impl Resumption {
    /// Returns the resumption that a worker gets after a suspension, and the bytes of the signals that come with it.
    pub(crate) fn of(past: &PastSuspension) -> Option<(Self, u64)> {
        let by = past.resumed_by()?;
        let mut bytes = 0;
        let mut with_payload = 0;
        for signal in &past.signals {
            if with_payload > 0 && bytes + signal.payload_bytes > limits::RESUME_BYTES as u64 {
                break;
            }
            bytes += signal.payload_bytes;
            with_payload += 1;
        }
        let signals = past.signals.iter().map(|signal| signal.signal_id).collect();
        let (suspension_id, at, continuation) = (past.id, past.ended_at, past.continuation.clone());
        Some((Self { suspension_id, by, at, continuation, signals, with_payload }, bytes))
    }
}
