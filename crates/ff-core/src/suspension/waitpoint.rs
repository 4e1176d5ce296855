//! Waitpoints: the targets of signals. The record of a waitpoint is its definition. The execution determines whether
//! the waitpoint is open, so no end of a suspension can leave a waitpoint open.

use serde::{Deserialize, Serialize};

use super::BoundWaitpoint;
use crate::engine_error::{Code, Refusal};
use crate::execution::{Execution, Phase};
use crate::rule::change::Change;
use crate::signal::Source;
use crate::state::text_enum;
use crate::token::{KeyRing, PresentedToken, WaitpointToken};
use crate::types::{ExecutionId, SignalId, SignalName, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// A target of signals, on which an execution waits or may wait later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waitpoint {
    pub id: WaitpointId,
    pub execution_id: ExecutionId,
    pub key: WaitpointKey,
    /// The token that its creator received. It is kept so that a repeated call returns the same one. It opens the
    /// waitpoint while its secret verifies, and so does every other token that was minted for the waitpoint.
    pub token: WaitpointToken,
    pub created_at: TimestampMs,
    /// Time at which a pending waitpoint expires; `None` if it was created with its suspension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
    /// The suspension that used the waitpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<SuspensionId>,
    /// Set when the waitpoint was closed before a suspension used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<WaitpointClosed>,
    /// Signals that arrived before a suspension, in order. Emptied when a suspension evaluates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffered: Vec<BufferedSignal>,
}

impl Waitpoint {
    /// Creates a waitpoint without a suspension.
    pub(crate) fn fresh(
        id: WaitpointId,
        execution_id: ExecutionId,
        key: WaitpointKey,
        token: WaitpointToken,
        now: TimestampMs,
    ) -> Self {
        let (expires_at, suspension_id, closed, buffered) = (None, None, None, Vec::new());
        Self { id, execution_id, key, token, created_at: now, expires_at, suspension_id, closed, buffered }
    }

    /// Mints a token under the current secret, because the secret of the stored token may have been retired.
    pub fn mint(&self, ring: Option<&KeyRing>) -> Result<WaitpointToken, Refusal> {
        ring.ok_or(Code::HmacSecretNotInitialized)?.mint(&self.execution_id, &self.id, &self.key)
    }

    /// Verifies that a token was minted for this waitpoint, under a secret that verifies now.
    pub fn verify(&self, ring: Option<&KeyRing>, token: &PresentedToken, now: TimestampMs) -> Result<(), Code> {
        let ring = ring.ok_or(Code::InvalidToken)?;
        ring.verify(token, &self.execution_id, &self.id, &self.key, now).map(drop)
    }

    /// Returns the waitpoint as a suspension refers to it.
    pub(crate) fn bound(&self) -> BoundWaitpoint {
        BoundWaitpoint { id: self.id, key: self.key.clone() }
    }
}

/// The closing of a waitpoint before a suspension used it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitpointClosed {
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A signal that arrived early, with the fields that a condition evaluates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferedSignal {
    pub signal_id: SignalId,
    pub name: SignalName,
    pub source: Source,
    pub payload_bytes: u64,
}

/// A pending waitpoint in the record of its execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWaitpoint {
    pub id: WaitpointId,
    pub key: WaitpointKey,
    pub expires_at: TimestampMs,
}

text_enum! {
    /// State of a waitpoint.
    WaitpointState {
        /// Created before a suspension; its signals are buffered until one uses it.
        Pending "pending",
        /// A suspension waits on it.
        Active "active",
        /// It accepts no more signals.
        Closed "closed",
        /// No suspension used it in time.
        Expired "expired",
    }
}

impl Execution {
    /// Returns the state of a waitpoint of this execution.
    pub fn waitpoint_state(&self, waitpoint: &Waitpoint, now: TimestampMs) -> WaitpointState {
        let ran_out = |at: TimestampMs| now >= at;
        if let Some(pending) = self.pending_waitpoints.iter().find(|pending| pending.id == waitpoint.id) {
            return if ran_out(pending.expires_at) { WaitpointState::Expired } else { WaitpointState::Pending };
        }
        let unused = waitpoint.suspension_id.is_none() && waitpoint.closed.is_none();
        match &self.phase {
            Phase::Suspended { suspension } if suspension.waitpoints.iter().any(|bound| bound.id == waitpoint.id) => {
                WaitpointState::Active
            }
            _ if unused && waitpoint.expires_at.is_some_and(ran_out) => WaitpointState::Expired,
            _ => WaitpointState::Closed,
        }
    }

    /// Returns the execution without its expired pending waitpoints, so that their keys can be used again.
    pub(crate) fn without_expired(&self, now: TimestampMs) -> Change {
        let mut change = self.unchanged();
        change.after.pending_waitpoints.retain(|pending| now < pending.expires_at);
        change
    }

    /// Returns the waitpoint with this key: an open one, or else one of the last suspension.
    pub fn waitpoint_by_key(&self, key: &WaitpointKey) -> Option<WaitpointId> {
        let pending = self.pending_waitpoints.iter().map(|pending| (&pending.key, pending.id));
        let current = match &self.phase {
            Phase::Suspended { suspension } => suspension.waitpoints.as_slice(),
            _ => &[],
        };
        let last = self.last_suspension.iter().flat_map(|past| &past.waitpoints);
        let bound = current.iter().chain(last).map(|BoundWaitpoint { id, key }| (key, *id));
        pending.chain(bound).find(|(known, _)| *known == key).map(|(_, id)| id)
    }
}
