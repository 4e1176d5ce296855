//! What can be changed about a flow beside its graph.

use ff_core::contracts::{CloseFlowArgs, ClosedFlow, SetFlowTagsArgs, TaggedFlow};
use ff_core::partition::PartitionConfig;

use super::core_key;
use super::create::flat;
use crate::record::Hash;
use crate::server::ask;
use crate::signature::{CloseFlow, SetFlowTags};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Lets a flow end with its last member.
pub async fn ff_close_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CloseFlowArgs,
) -> Result<ClosedFlow, ScriptError> {
    ask(server, CloseFlow { core: core_key(&args.flow_id, partitions) }.call()).await
}

/// Puts labels on a flow, beside those it has.
pub async fn ff_set_flow_tags(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: SetFlowTagsArgs,
) -> Result<TaggedFlow, ScriptError> {
    ask(server, SetFlowTags { core: core_key(&args.flow_id, partitions), tags: flat(&args.tags) }.call()).await
}

impl FromFcallResult for ClosedFlow {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { state: fields.read()?, already })
    }
}

impl FromFcallResult for TaggedFlow {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { tags: Hash::parse(fields.list()?)?.all()?.into_iter().collect() })
    }
}
