//! The record of a signal.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::payload::Payload;
use crate::state::text_enum;
use crate::types::{ExecutionId, IdempotencyKey, Kind, SignalId, SignalName, SourceIdentity, TimestampMs, WaitpointId};

/// A signal to an execution, as received. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// A signal to record, with its payload. A signal without bytes has no payload.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSignal {
    pub signal: Signal,
    pub payload: Option<Payload>,
}

impl RecordedSignal {
    /// Creates a signal to record. A payload without bytes is not kept.
    pub(crate) fn new(signal: Signal, payload: Option<Payload>) -> Self {
        Self { signal, payload: payload.filter(|payload| !payload.bytes.is_empty()) }
    }
}

/// The sender of a signal: its kind and its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
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

    /// Parses a source as senders write it.
    pub fn parse(kind: &str, identity: Option<&str>) -> Result<Self, Refusal> {
        let kind = Kind::parse(kind).map_err(|error| Refusal::invalid("source.type", error))?;
        let identity = identity.map(SourceIdentity::parse).transpose();
        Ok(Self { kind, identity: identity.map_err(|error| Refusal::invalid("source.identity", error))? })
    }

    /// Returns the source of a sender that does not identify itself.
    pub fn external() -> Self {
        Self { kind: Kind::known(Self::EXTERNAL), identity: None }
    }

    pub(crate) fn engine() -> Self {
        Self { kind: Kind::known(Self::ENGINE), identity: None }
    }

    pub(crate) fn operator(identity: Option<SourceIdentity>) -> Self {
        Self { kind: Kind::known(Self::OPERATOR), identity }
    }

    /// Returns whether only the engine or an operator may be this source, so that workers can trust it. Readers ignore
    /// the case of names, so every spelling of a reserved name is reserved.
    pub fn is_reserved(&self) -> bool {
        [Self::ENGINE, Self::OPERATOR].iter().any(|reserved| self.kind.as_str().eq_ignore_ascii_case(reserved))
    }
}

/// The text identifies the source. A kind contains no colon, so the text is unambiguous.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.identity {
            Some(identity) => write!(f, "{}:{identity}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

text_enum! {
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

/// The first signal that a waitpoint accepted under an idempotency key, and the time until which the key is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalKeyEntry {
    pub execution_id: ExecutionId,
    pub waitpoint_id: WaitpointId,
    pub key: IdempotencyKey,
    pub signal_id: SignalId,
    pub until: TimestampMs,
}
