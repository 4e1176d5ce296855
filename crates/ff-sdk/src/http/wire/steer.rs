//! What people ask of an execution from outside. A body may say why, or be left out.

use ff_core::contracts::{CancelArgs, ReplayArgs, RevokeArgs};
use ff_core::types::{ExecutionId, LeaseId};
use serde::{Deserialize, Serialize};

/// Someone wants an execution stopped.
#[derive(Serialize, Deserialize)]
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
    pub fn into_args(self, execution_id: ExecutionId) -> CancelArgs {
        CancelArgs { execution_id, reason: self.reason, requested_by: self.requested_by }
    }
}

/// Someone wants a finished execution run again.
#[derive(Serialize, Deserialize)]
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
    pub fn into_args(self, execution_id: ExecutionId) -> ReplayArgs {
        let Self { reason, requested_by, reopen_downstream } = self;
        ReplayArgs { execution_id, reason, requested_by, reopen_downstream }
    }
}

/// An operator takes a lease away.
#[derive(Serialize, Deserialize)]
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
    pub fn into_args(self, execution_id: ExecutionId) -> RevokeArgs {
        RevokeArgs { execution_id, lease_id: self.lease_id, reason: self.reason }
    }
}
