//! The record of a signal.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::payload::Payload;
use crate::state::words;
use crate::types::{ExecutionId, IdempotencyKey, Kind, SignalId, SignalName, SourceIdentity, TimestampMs, WaitpointId};

/// A signal to an execution, as received. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signal {
    pub id: SignalId,
    pub execution_id: ExecutionId,
    /// The waitpoint it was sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint_id: Option<WaitpointId>,
    pub name: SignalName,
    pub source: Source,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    pub received_at: TimestampMs,
    pub effect: Effect,
    pub payload_bytes: u64,
}

impl Signal {
    /// The name of the signal a timeout sends.
    pub const TIMEOUT: &str = "timeout";
    /// The names of the signals an operator sends.
    pub const RESUMED: &str = "resumed";
    pub const APPROVED: &str = "approved";
    pub const REJECTED: &str = "rejected";
}

/// A signal to be recorded, with its bytes. One without bytes has no payload.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSignal {
    pub signal: Signal,
    pub payload: Option<Payload>,
}

impl RecordedSignal {
    /// Nothing is kept of a payload without bytes.
    pub(crate) fn new(signal: Signal, payload: Option<Payload>) -> Self {
        Self { signal, payload: payload.filter(|payload| !payload.bytes.is_empty()) }
    }
}

/// The sender of a signal: its kind and its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    #[serde(rename = "type")]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<SourceIdentity>,
}

impl Source {
    const ENGINE: &str = "engine";
    const OPERATOR: &str = "operator";
    const EXTERNAL: &str = "external";

    /// Reads a source as senders write it.
    pub fn parse(kind: &str, identity: Option<&str>) -> Result<Self, Refusal> {
        let kind = Kind::parse(kind).map_err(|error| Refusal::invalid("source.type", error))?;
        let identity = identity.map(SourceIdentity::parse).transpose();
        Ok(Self { kind, identity: identity.map_err(|error| Refusal::invalid("source.identity", error))? })
    }

    /// A sender that says nothing about itself.
    pub fn external() -> Self {
        Self { kind: Kind::known(Self::EXTERNAL), identity: None }
    }

    pub(crate) fn engine() -> Self {
        Self { kind: Kind::known(Self::ENGINE), identity: None }
    }

    pub(crate) fn operator(identity: Option<SourceIdentity>) -> Self {
        Self { kind: Kind::known(Self::OPERATOR), identity }
    }

    /// Whether only the engine or an operator may be this, so that a worker can believe it. People read names without
    /// looking at their case, so no spelling of one is for others.
    pub fn is_reserved(&self) -> bool {
        [Self::ENGINE, Self::OPERATOR].iter().any(|reserved| self.kind.as_str().eq_ignore_ascii_case(reserved))
    }
}

/// Two sources are one when this text is one: a kind has no colon, so the text has one reading.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.identity {
            Some(identity) => write!(f, "{}:{identity}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

words! {
    /// Effect of a signal.
    Effect {
        /// It counted; the condition needs more.
        Appended "appended_to_waitpoint",
        /// It met the condition; the execution resumes.
        Satisfied "resume_condition_satisfied",
        /// No suspension waits for it yet; it is buffered until one does.
        Buffered "buffered_for_pending_waitpoint",
        /// It is recorded, but it is not distinct from one that counted before.
        Recounted "appended_to_waitpoint_duplicate",
        /// It is recorded, but the condition does not use its waitpoint.
        NotInCondition "signal_ignored_not_in_condition",
        /// It is recorded, but the condition requires another name.
        MatcherFailed "signal_ignored_matcher_failed",
        /// It is a duplicate by its idempotency key. Nothing was recorded.
        Duplicate "duplicate",
    }
}

/// The first signal a waitpoint took under an idempotency key, and until when the key is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalKeyEntry {
    pub execution_id: ExecutionId,
    pub waitpoint_id: WaitpointId,
    pub key: IdempotencyKey,
    pub signal_id: SignalId,
    pub until: TimestampMs,
}
