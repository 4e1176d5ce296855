//! What people ask of an execution from outside. A body may say why, or be left out.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::contracts::{CancelArgs, ChangePriorityArgs, ReplayArgs, RevokeArgs, SetTagsArgs};
use ff_core::engine_error::Refusal;
use ff_core::types::{ExecutionId, LeaseId, Priority, TagKey, TagValue};
use serde::{Deserialize, Serialize};

use crate::execution::submit::tags;

/// Someone wants an execution stopped.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
}

impl Cancel {
    /// The call as it travels.
    pub fn of(args: CancelArgs) -> Self {
        Self { reason: args.reason, requested_by: args.requested_by }
    }

    /// What is asked of an execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<CancelArgs, Refusal> {
        Ok(CancelArgs { execution_id, reason: self.reason, requested_by: self.requested_by })
    }
}

/// Someone wants a finished execution run again.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replay {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    /// Whether what depends on it in its flow runs again as well, where it has finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reopen_downstream: bool,
}

impl Replay {
    /// The call as it travels.
    pub fn of(args: ReplayArgs) -> Self {
        Self { reason: args.reason, requested_by: args.requested_by, reopen_downstream: args.reopen_downstream }
    }

    /// What is asked of an execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<ReplayArgs, Refusal> {
        let Self { reason, requested_by, reopen_downstream } = self;
        Ok(ReplayArgs { execution_id, reason, requested_by, reopen_downstream })
    }
}

/// An operator takes a lease away.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    /// Only this lease, when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_id: Option<LeaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Revoke {
    /// The call as it travels.
    pub fn of(args: RevokeArgs) -> Self {
        Self { lease_id: args.lease_id, reason: args.reason }
    }

    /// What is asked of an execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<RevokeArgs, Refusal> {
        Ok(RevokeArgs { execution_id, lease_id: self.lease_id, reason: self.reason })
    }
}

/// Someone wants an execution to go before or after others.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangePriority {
    pub priority: Priority,
}

impl ChangePriority {
    /// The call as it travels.
    pub fn of(args: ChangePriorityArgs) -> Self {
        Self { priority: args.priority }
    }

    /// What is asked of an execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<ChangePriorityArgs, Refusal> {
        Ok(ChangePriorityArgs { execution_id, priority: self.priority })
    }
}

/// Someone labels an execution.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetTags {
    /// Labels to put on it, beside those it has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, TagValue>,
    /// Labels to take away.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub remove: BTreeSet<TagKey>,
}

impl SetTags {
    /// The call as it travels.
    pub fn of(args: SetTagsArgs) -> Self {
        Self { tags: args.set.into_iter().map(|(key, value)| (key.to_string(), value)).collect(), remove: args.remove }
    }

    /// What is asked of an execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<SetTagsArgs, Refusal> {
        Ok(SetTagsArgs { execution_id, set: tags(self.tags)?, remove: self.remove })
    }
}
