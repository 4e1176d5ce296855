//! What anyone may ask of an execution they do not hold.

use serde::{Deserialize, Serialize};

use super::check_message;
use crate::engine_error::Refusal;
use crate::state::PublicState;
use crate::types::ExecutionId;

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
    /// Whether what depends on it in its flow runs again after it, if it has finished.
    pub reopen_downstream: bool,
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
