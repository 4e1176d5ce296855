//! Calls of operators about a flow, and the call of a holder that waits for its children.

use std::collections::BTreeMap;

use ff_core::contracts::{CancelFlowArgs, FlowCancelled, FlowEnd, SetFlowTagsArgs, WaitForChildrenArgs};
use ff_core::engine_error::Refusal;
use ff_core::flow::CancelPolicy;
use ff_core::lease::Fence;
use ff_core::types::{AttemptId, ExecutionId, FlowId, LeaseEpoch, LeaseId, TagValue};
use serde::{Deserialize, Serialize};

use crate::execution::submit::tags;
use crate::lease::holder::{holder_calls, with_fence};
use crate::object::word;

/// Cancels a flow: all members, unless `policy` says otherwise.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CancelFlow {
    #[serde(default, deserialize_with = "word", skip_serializing_if = "Option::is_none")]
    pub policy: Option<CancelPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
}

impl CancelFlow {
    pub fn of(args: CancelFlowArgs) -> Self {
        Self { policy: Some(args.policy), reason: args.reason, requested_by: args.requested_by }
    }

    pub fn into_args(self, flow_id: FlowId) -> CancelFlowArgs {
        let policy = self.policy.unwrap_or(CancelPolicy::CancelAll);
        CancelFlowArgs { flow_id, policy, reason: self.reason, requested_by: self.requested_by }
    }
}

/// The flow is cancelled. `end` is present if the flow ended within the requested wait.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCancellation {
    #[serde(flatten)]
    pub cancelled: FlowCancelled,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<FlowEnd>,
}

/// Adds tags to a flow.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TagFlow {
    pub tags: BTreeMap<String, TagValue>,
}

impl TagFlow {
    pub fn of(args: SetFlowTagsArgs) -> Self {
        Self { tags: args.tags.into_iter().map(|(key, value)| (key.to_string(), value)).collect() }
    }

    pub fn into_args(self, flow_id: FlowId) -> Result<SetFlowTagsArgs, Refusal> {
        Ok(SetFlowTagsArgs { flow_id, tags: tags(self.tags)? })
    }
}

holder_calls! {
    /// Gives up the lease until the join of the added members is decided.
    WaitForChildren {}
}

impl WaitForChildren {
    pub fn of(args: WaitForChildrenArgs) -> Self {
        with_fence!(WaitForChildren, args.fence,)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<WaitForChildrenArgs, Refusal> {
        Ok(WaitForChildrenArgs { execution_id, fence: self.fence()? })
    }
}
