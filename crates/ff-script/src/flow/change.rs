//! Functions that change a flow: labels, closing, cancelling, and a parent that waits for its children.

use ff_core::contracts::{
    CancelFlowArgs, CloseFlowArgs, ClosedFlow, FlowCancelled, SetFlowTagsArgs, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use ff_core::partition::PartitionConfig;

use super::flow_core_key;
use crate::execution::{core_key, tag_items};
use crate::record::Hash;
use crate::server::{ask, ask_fields};
use crate::signature::{CancelFlow, CloseFlow, MoveToWaitingChildren, SetFlowTags};
use crate::{ScriptError, Server};

/// Closes a flow, so that it ends with its last member.
pub async fn ff_close_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CloseFlowArgs,
) -> Result<ClosedFlow, ScriptError> {
    let (mut fields, already) =
        ask_fields(server, CloseFlow { core: flow_core_key(&args.flow_id, partitions) }.call()).await?;
    Ok(ClosedFlow { state: fields.read()?, already })
}

/// Adds labels to a flow.
pub async fn ff_set_flow_tags(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: SetFlowTagsArgs,
) -> Result<TaggedFlow, ScriptError> {
    let mut fields =
        ask(server, SetFlowTags { core: flow_core_key(&args.flow_id, partitions), tags: tag_items(&args.tags) }.call())
            .await?;
    Ok(TaggedFlow { tags: Hash::parse(fields.list()?)?.all()?.into_iter().collect() })
}

/// Cancels a flow: members that the policy does not spare no longer start.
pub async fn ff_cancel_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CancelFlowArgs,
) -> Result<FlowCancelled, ScriptError> {
    let cancel = CancelFlow {
        core: flow_core_key(&args.flow_id, partitions),
        policy_name: args.policy.to_string(),
        reason: args.reason,
        requested_by: args.requested_by,
    };
    let (mut fields, already) = ask_fields(server, cancel.call()).await?;
    Ok(FlowCancelled { policy: fields.read()?, already, cancelled: fields.read()?, scheduled: fields.read()? })
}

/// Releases the lease until the holder's join is decided, or keeps it when the join is decided already.
pub async fn ff_move_to_waiting_children(
    server: &dyn Server,
    args: WaitForChildrenArgs,
) -> Result<WaitedForChildren, ScriptError> {
    let wait = MoveToWaitingChildren {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
    };
    let mut fields = ask(server, wait.call()).await?;
    Ok(WaitedForChildren { state: fields.read()? })
}
