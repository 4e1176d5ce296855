//! Stopping a flow.

use ff_core::contracts::{CancelFlowArgs, FlowCancelled};
use ff_core::keys::FlowKeyContext;
use ff_core::partition::{Partition, PartitionConfig};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId};

use super::core_key;
use crate::server::ask;
use crate::signature::{AckCancelMember, CancelFlow};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Stops a flow: whatever the policy does not spare starts no more.
pub async fn ff_cancel_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CancelFlowArgs,
) -> Result<FlowCancelled, ScriptError> {
    let cancel = CancelFlow {
        core: core_key(&args.flow_id, partitions),
        policy_name: args.policy.to_string(),
        reason: args.reason,
        requested_by: args.requested_by,
    };
    ask(server, cancel.call()).await
}

/// Cancels one member of a cancelled flow, unless the flow spares it, and says how it stands then.
pub async fn ff_ack_cancel_member(
    server: &dyn Server,
    flow_id: &FlowId,
    id: &ExecutionId,
) -> Result<PublicState, ScriptError> {
    let core = FlowKeyContext::new(&Partition::of(id), flow_id).core();
    let call = AckCancelMember { core, execution_id: id.to_string() }.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    fields.read()
}

impl FromFcallResult for FlowCancelled {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { policy: fields.read()?, already, cancelled: fields.read()?, scheduled: fields.read()? })
    }
}
