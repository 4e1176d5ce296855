//! Waitpoints: the targets of signals. A waitpoint's record is its definition; whether it is open follows from its
//! execution, so no end of a suspension can leave one open.

use serde::{Deserialize, Serialize};

use super::BoundWaitpoint;
use crate::change::Change;
use crate::engine_error::{Code, Refusal};
use crate::execution::{Execution, Phase};
use crate::signal::Source;
use crate::state::words;
use crate::token::{KeyRing, PresentedToken, WaitpointToken};
use crate::types::{ExecutionId, SignalId, SignalName, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// One thing an execution waits on, or is going to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waitpoint {
    pub id: WaitpointId,
    pub execution_id: ExecutionId,
    pub key: WaitpointKey,
    /// The token handed to its maker, kept so that the maker gets the same one when it asks again. It opens the
    /// waitpoint while its secret verifies, and so does every other token that was minted for it.
    pub token: WaitpointToken,
    pub created_at: TimestampMs,
    /// Until when it may wait for its suspension, when it was made ahead of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
    /// The suspension that used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<SuspensionId>,
    /// How it was closed before a suspension used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<WaitpointClosed>,
    /// Signals that arrived before a suspension, in order. Emptied when a suspension evaluates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffered: Vec<BufferedSignal>,
}

impl Waitpoint {
    /// A waitpoint without a suspension.
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

    /// A token for it under the secret that is current now: the maker's own may be of a secret that was retired since.
    pub fn mint(&self, ring: Option<&KeyRing>) -> Result<WaitpointToken, Refusal> {
        ring.ok_or(Code::HmacSecretNotInitialized)?.mint(&self.execution_id, &self.id, &self.key)
    }

    /// Whether a token opens it: minted for it, under a secret that verifies now.
    pub fn verify(&self, ring: Option<&KeyRing>, token: &PresentedToken, now: TimestampMs) -> Result<(), Code> {
        let ring = ring.ok_or(Code::InvalidToken)?;
        ring.verify(token, &self.execution_id, &self.id, &self.key, now).map(drop)
    }

    /// This waitpoint as a suspension names it.
    pub(crate) fn bound(&self) -> BoundWaitpoint {
        BoundWaitpoint { id: self.id, key: self.key.clone() }
    }
}

/// A waitpoint was closed before a suspension used it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitpointClosed {
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A signal that arrived early, with the fields a condition will look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferedSignal {
    pub signal_id: SignalId,
    pub name: SignalName,
    pub source: Source,
    pub payload_bytes: u64,
}

/// A waitpoint made ahead, as the record of its execution has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWaitpoint {
    pub id: WaitpointId,
    pub key: WaitpointKey,
    pub expires_at: TimestampMs,
}

words! {
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
    /// The state of a waitpoint of this execution.
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

    /// The execution as it is without the waitpoints whose time has run out, so that their keys are free.
    pub(crate) fn without_expired(&self, now: TimestampMs) -> Change {
        let mut change = self.unchanged();
        change.after.pending_waitpoints.retain(|pending| now < pending.expires_at);
        change
    }

    /// The waitpoint outsiders know by a key: an open one, or else one of the last suspension.
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
