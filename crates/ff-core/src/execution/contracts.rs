//! What callers ask of an execution, and what they are told.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine_error::{Code, Refusal};
use crate::execution::{Attempt, Failure, FinishedBy, Outcome, Progress, Tags};
use crate::lease::{Fence, LeaseEvent};
use crate::limits;
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::state::{PublicState, StateVector};
use crate::types::{
    AttemptIndex, ExecutionId, IdempotencyKey, Kind, LaneId, LeaseEpoch, Namespace, Priority, TimestampMs, WorkerId,
    WorkerInstanceId,
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
}

impl SubmitArgs {
    /// Work of a kind, everything else by default.
    pub fn new(kind: Kind, payload: Payload) -> Self {
        Self {
            uuid: Uuid::now_v7(),
            namespace: Namespace::default_name(),
            lane: LaneId::default_name(),
            kind,
            payload,
            priority: Priority::default(),
            tags: Tags::new(),
            idempotency_key: None,
            start: Start::Now,
            policy: Policy::default(),
        }
    }

    /// The id this work gets.
    pub fn execution_id(&self, config: &PartitionConfig) -> ExecutionId {
        ExecutionId::place(self.uuid, &self.namespace, self.idempotency_key.as_ref(), config)
    }

    /// Refuses what is over a limit.
    pub fn check(&self) -> Result<(), Refusal> {
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

    pub fn check(self) -> Result<(), Refusal> {
        match self {
            Self::After(ms) if ms > limits::SPAN_MAX_MS => {
                let mut refusal = Refusal::new(Code::LimitExceeded).at("delay_ms");
                refusal.limit = Some((limits::SPAN_MAX_MS, ms));
                Err(refusal.because(format!("must be at most {}, got {ms}", limits::SPAN_MAX_MS)))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a payload over its limit.
pub fn check_payload(field: &str, payload: &Payload) -> Result<(), Refusal> {
    if payload.bytes.len() > limits::PAYLOAD_BYTES {
        return Err(Refusal::over_limit(Code::PayloadTooLarge, field, limits::PAYLOAD_BYTES, payload.bytes.len()));
    }
    Ok(())
}

/// Refuses a text over its limit.
pub fn check_message(field: &str, text: Option<&str>) -> Result<(), Refusal> {
    match text {
        Some(text) if text.len() > limits::MESSAGE_BYTES => {
            Err(Refusal::over_limit(Code::LimitExceeded, field, limits::MESSAGE_BYTES, text.len()))
        }
        _ => Ok(()),
    }
}

/// What became of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    pub execution_id: ExecutionId,
    pub public_state: PublicState,
    /// True when the same submission was there already; nothing was written then.
    pub duplicate: bool,
}

/// The holder says how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub percent: Option<u8>,
    pub message: Option<String>,
}

impl ProgressArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(percent) = self.percent.filter(|percent| *percent > 100) {
            return Err(Refusal::over_limit(Code::LimitExceeded, "percent", 100, usize::from(percent)));
        }
        check_message("message", self.message.as_deref())
    }
}

/// Progress was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    pub at: TimestampMs,
}

/// The holder says the work is done.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub result: Option<Payload>,
}

impl CompleteArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        self.result.as_ref().map_or(Ok(()), |result| check_payload("result", result))
    }
}

/// The work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    pub public_state: PublicState,
}

/// The holder says the work went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub failure: Failure,
}

impl FailArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("message", Some(&self.failure.message))
    }
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Failed {
    RetryScheduled { retry_at: TimestampMs },
    Failed,
}

/// The holder puts the work off; the same attempt goes on later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub start: Start,
}

impl DelayArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        self.start.check()
    }
}

/// The work was put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delayed {
    pub until: TimestampMs,
}

/// Someone wants the execution stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelArgs {
    pub execution_id: ExecutionId,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

impl CancelArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }
}

/// The execution is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    pub public_state: PublicState,
    /// True when it had been cancelled before.
    pub already: bool,
}

/// Someone wants a finished execution run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayArgs {
    pub execution_id: ExecutionId,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

impl ReplayArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }
}

/// The execution runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub public_state: PublicState,
    /// How often it has been replayed, this time included.
    pub replays: u32,
}

/// An execution as callers see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionInfo {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub priority: Priority,
    pub public_state: PublicState,
    pub state: StateVector,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub policy: Policy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    pub payload_bytes: u64,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    pub changed_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_until: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_by: Option<FinishedBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseInfo>,
    pub attempts_made: u32,
    pub retries: u32,
    pub reclaims: u32,
    pub replays: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A lease as others than its holder see it: without what would let them act in the holder's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseInfo {
    pub worker_id: WorkerId,
    pub worker_instance_id: WorkerInstanceId,
    pub lease_epoch: LeaseEpoch,
    pub attempt_index: AttemptIndex,
    pub acquired_at: TimestampMs,
    pub expires_at: TimestampMs,
}

/// Which executions to list: newest first, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListArgs {
    pub namespace: Namespace,
    pub lane: Option<LaneId>,
    pub state: Option<PublicState>,
    pub after: Option<Cursor>,
    pub limit: usize,
}

impl ListArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            1..=limits::PAGE => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
        }
    }
}

/// Where a page ended: the last row's creation and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub created_at: TimestampMs,
    pub execution_id: ExecutionId,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.created_at, self.execution_id.partition(), self.execution_id.uuid())
    }
}

impl FromStr for Cursor {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = || {
            let (created, id) = text.split_once('.')?;
            let (partition, uuid) = id.split_once('.')?;
            let execution_id = format!("{{fp:{partition}}}:{uuid}").parse().ok()?;
            Some(Self { created_at: TimestampMs(created.parse().ok()?), execution_id })
        };
        parts().ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub executions: Vec<ExecutionInfo>,
    /// Where the next page starts; absent on the last one.
    pub next: Option<Cursor>,
}

/// How an execution ended, with what it produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub execution_id: ExecutionId,
    pub outcome: Outcome,
    pub at: TimestampMs,
    pub by: FinishedBy,
    pub result: Option<Payload>,
    pub failure: Option<Failure>,
}

/// Every try at an execution, oldest first, and the leases that were taken away or given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    pub attempts: Vec<Attempt>,
    pub leases: Vec<LeaseEvent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let cursor = Cursor { created_at: TimestampMs(17), execution_id: ExecutionId::new(3, Uuid::from_u128(9)) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "x", "17", "17.3", "17.3.x", "x.3.00000000-0000-0000-0000-000000000009"] {
            assert_eq!(text.parse::<Cursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }

    #[test]
    fn a_payload_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| SubmitArgs::new(Kind::parse("k").unwrap(), Payload::bytes(vec![0; bytes]));
        assert_eq!(sized(limits::PAYLOAD_BYTES).check(), Ok(()));
        let refusal = sized(limits::PAYLOAD_BYTES + 1).check().unwrap_err();
        assert_eq!(refusal.code, Code::PayloadTooLarge);
        assert_eq!(refusal.limit, Some((1_048_576, 1_048_577)));
    }

    #[test]
    fn a_past_start_is_now() {
        let now = TimestampMs(100);
        assert_eq!(Start::At(TimestampMs(99)).later_than(now), None);
        assert_eq!(Start::At(TimestampMs(100)).later_than(now), None);
        assert_eq!(Start::After(5).later_than(now), Some(TimestampMs(105)));
    }
}
