//! Stopping a flow.

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::execution::contracts::check_message;
use crate::flow::CancelPolicy;
use crate::types::FlowId;

/// Someone wants a flow stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelFlowArgs {
    pub flow_id: FlowId,
    pub policy: CancelPolicy,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

impl CancelFlowArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }
}

/// The flow is cancelled: whatever the policy does not spare starts no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCancelled {
    /// The policy in force: the first one, unless a later one asked for all.
    pub policy: CancelPolicy,
    /// True when it had been cancelled before.
    pub already: bool,
    /// Members that were cancelled at once.
    pub cancelled: u32,
    /// Members still to be looked at, in further steps.
    pub scheduled: u32,
}
