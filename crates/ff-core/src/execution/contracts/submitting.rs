//! Handing in work.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::check_payload;
use crate::engine_error::{Code, Refusal};
use crate::execution::Tags;
use crate::limits;
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::state::PublicState;
use crate::trace::TraceContext;
use crate::types::{
    ExecutionId, IdempotencyKey, Kind, LaneId, Namespace, Priority, TimestampMs, draw_execution_uuid, is_derived,
};

/// A new piece of work. The uuid is the submitter's, so that a submission whose reply got lost can be sent again.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitArgs {
    pub uuid: Uuid,
    pub namespace: Namespace,
    pub lane: LaneId,
    pub kind: Kind,
    pub payload: Payload,
    pub priority: Priority,
    pub tags: Tags,
    pub idempotency_key: Option<IdempotencyKey>,
    pub start: Start,
    pub policy: Policy,
    /// The submitter's trace, which the handler is told of. Not part of what makes two submissions the same.
    pub trace: Option<Box<TraceContext>>,
}

impl SubmitArgs {
    /// Work of a kind, everything else by default.
    pub fn new(kind: Kind, payload: Payload) -> Self {
        Self {
            uuid: draw_execution_uuid(),
            namespace: Namespace::default_name(),
            lane: LaneId::default_name(),
            kind,
            payload,
            priority: Priority::default(),
            tags: Tags::new(),
            idempotency_key: None,
            start: Start::Now,
            policy: Policy::default(),
            trace: None,
        }
    }

    /// The id this work gets.
    pub fn execution_id(&self, config: &PartitionConfig) -> ExecutionId {
        ExecutionId::place(self.uuid, &self.namespace, self.idempotency_key.as_ref(), config)
    }

    /// Refuses what is over a limit, and an id that is not the submitter's to choose: members of a flow under an idempotency
    /// key have such ids, and anybody can compute them.
    pub fn check(&self) -> Result<(), Refusal> {
        if is_derived(&self.uuid) {
            return Err(Refusal::invalid("uuid", "is kept for members of flows; send one that was drawn at random"));
        }
        check_payload("payload", &self.payload)?;
        if self.tags.len() > limits::TAGS {
            return Err(Refusal::over_limit(Code::LimitExceeded, "tags", limits::TAGS, self.tags.len()));
        }
        self.start.check()?;
        self.policy.check()
    }
}

/// When something may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Now,
    /// After so many milliseconds by the store's clock.
    After(u64),
    /// At a moment; one that has passed is now.
    At(TimestampMs),
}

impl Start {
    /// The moment, when it lies in the future.
    pub fn later_than(self, now: TimestampMs) -> Option<TimestampMs> {
        let at = match self {
            Self::Now => now,
            Self::After(ms) => now + ms,
            Self::At(at) => at,
        };
        (at > now).then_some(at)
    }

    /// Refuses a moment nobody will live to see.
    pub fn check(self) -> Result<(), Refusal> {
        match self {
            Self::After(ms) if ms > limits::SPAN_MAX_MS => {
                Err(Refusal::over_limit(Code::LimitExceeded, "delay_ms", limits::SPAN_MAX_MS, ms))
            }
            Self::At(at) if at.0 > limits::MOMENT_MAX_MS => {
                Err(Refusal::over_limit(Code::LimitExceeded, "start_at", limits::MOMENT_MAX_MS, at.0))
            }
            _ => Ok(()),
        }
    }
}

/// What became of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Submitted {
    pub execution_id: ExecutionId,
    pub public_state: PublicState,
    /// True when the same submission was there already; nothing was written then.
    pub duplicate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| SubmitArgs::new(Kind::parse("k").unwrap(), Payload::bytes(vec![0; bytes]));
        assert_eq!(sized(limits::PAYLOAD_BYTES).check(), Ok(()));
        let refusal = sized(limits::PAYLOAD_BYTES + 1).check().unwrap_err();
        assert_eq!(refusal.code, Code::PayloadTooLarge);
        assert_eq!(refusal.limit, Some((1_048_576, 1_048_577)));
    }

    #[test]
    fn a_start_is_taken_at_its_limit_and_refused_one_past_it() {
        let last = TimestampMs(limits::MOMENT_MAX_MS);
        assert_eq!(Start::At(last).check(), Ok(()));
        assert_eq!(Start::At(last + 1).check().unwrap_err().field.as_deref(), Some("start_at"));
        assert_eq!(Start::After(limits::SPAN_MAX_MS).check(), Ok(()));
        assert_eq!(Start::After(limits::SPAN_MAX_MS + 1).check().unwrap_err().field.as_deref(), Some("delay_ms"));
    }

    #[test]
    fn a_past_start_is_now() {
        let now = TimestampMs(100);
        assert_eq!(Start::At(TimestampMs(99)).later_than(now), None);
        assert_eq!(Start::At(TimestampMs(100)).later_than(now), None);
        assert_eq!(Start::After(5).later_than(now), Some(TimestampMs(105)));
    }
}
