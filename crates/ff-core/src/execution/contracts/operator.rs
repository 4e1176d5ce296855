//! What anyone may ask of an execution they do not hold.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::check_message;
use crate::engine_error::{Code, Refusal};
use crate::execution::Tags;
use crate::limits;
use crate::state::PublicState;
use crate::types::{ExecutionId, Priority, TagKey};

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replayed {
    pub public_state: PublicState,
    /// How often it has been replayed, this time included.
    pub replays: u32,
}

/// Someone wants the execution to go before or after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangePriorityArgs {
    pub execution_id: ExecutionId,
    pub priority: Priority,
}

/// The execution has this priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriorityChanged {
    /// The one it had; the same when nothing was to be done.
    pub from: Priority,
    pub priority: Priority,
}

/// Someone labels an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTagsArgs {
    pub execution_id: ExecutionId,
    /// Labels to put on it, beside those it has.
    pub set: Tags,
    /// Labels to take away.
    pub remove: BTreeSet<TagKey>,
}

impl SetTagsArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.set.len() > limits::TAGS {
            return Err(Refusal::over_limit(Code::LimitExceeded, "tags", limits::TAGS, self.set.len()));
        }
        if self.remove.len() > limits::TAGS {
            return Err(Refusal::over_limit(Code::LimitExceeded, "remove", limits::TAGS, self.remove.len()));
        }
        match self.remove.iter().find(|key| self.set.contains_key(*key)) {
            Some(key) => Err(Refusal::invalid("remove", format!("must not name {key}, which is to be set as well"))),
            None => Ok(()),
        }
    }
}

/// The labels the execution has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tagged {
    pub tags: Tags,
}
