//! Calls of operators about a flow, and the call of a holder that waits for its children.

use std::collections::BTreeMap;

use ff_core::contracts::{CancelFlowArgs, FlowCancelled, FlowEnd, SetFlowTagsArgs, WaitForChildrenArgs};
use ff_core::engine_error::Refusal;
use ff_core::flow::CancelPolicy;
use ff_core::lease::Fence;
use ff_core::types::{AttemptId, ExecutionId, FlowId, LeaseEpoch, LeaseId, TagValue};

use crate::execution::submit::tags;
use crate::lease::holder::{holder_calls, with_fence};
use crate::object::{answers, requests, word};

requests! {
    /// Cancels a flow: all members, unless `policy` says otherwise.
    pub struct CancelFlow {
        #[serde(deserialize_with = "word")]
        pub policy: Option<CancelPolicy>,
        pub reason: Option<String>,
        pub requested_by: Option<String>,
    }
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

answers! {
    /// The flow is cancelled. `end` is present if the flow ended within the requested wait.
    pub struct FlowCancellation {
        #[serde(flatten)]
        pub cancelled: FlowCancelled,
        pub end: Option<FlowEnd>,
    }
}

requests! {
    /// Adds tags to a flow.
    pub struct TagFlow {
        pub tags: BTreeMap<String, TagValue>,
    }
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
    pub struct WaitForChildren {}
}

impl WaitForChildren {
    pub fn of(args: WaitForChildrenArgs) -> Self {
        with_fence!(WaitForChildren, args.fence,)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<WaitForChildrenArgs, Refusal> {
        Ok(WaitForChildrenArgs { execution_id, fence: self.fence()? })
    }
}
