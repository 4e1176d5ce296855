//! What the holder of a lease says about the work.

use serde::{Deserialize, Serialize};

use super::{Start, check_message, check_payload};
use crate::engine_error::{Code, Refusal};
use crate::execution::Failure;
use crate::lease::Fence;
use crate::payload::Payload;
use crate::state::PublicState;
use crate::types::{ExecutionId, TimestampMs};

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delayed {
    pub until: TimestampMs,
}
