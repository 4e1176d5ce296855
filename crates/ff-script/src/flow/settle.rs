//! What becomes of members when others end: what a step left owed, and what a repair wants looked at.

use ff_core::contracts::Cascaded;
use ff_core::flow::{EdgeState, GroupState, edge_id};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId};

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::{
    ApplyDependencyToChild, CascadeCompletion, DrainSiblingCancelGroup, EvaluateFlowEligibility,
    PromoteBlockedToEligible, ReconcileSiblingCancelGroup,
};
use crate::{Fcall, FcallResult, FromFcallResult, ScriptError, Server};

/// What became of the siblings of a join that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiblingsDrained {
    /// Executions that ended with it.
    pub cancelled: u32,
    /// Whether some are still to be looked at.
    pub more: bool,
}

/// Settles the edges of an execution that has ended, as far as one step goes.
pub async fn ff_cascade_completion(server: &dyn Server, id: &ExecutionId) -> Result<Cascaded, ScriptError> {
    ask(server, CascadeCompletion { core: core_key(id) }.call()).await
}

/// How an edge stands, after it was settled if its upstream has ended and nobody told.
pub async fn ff_apply_dependency_to_child(
    server: &dyn Server,
    flow_id: &FlowId,
    upstream: &ExecutionId,
    downstream: &ExecutionId,
) -> Result<EdgeState, ScriptError> {
    let apply = ApplyDependencyToChild {
        core: core_key(downstream),
        edge_id: edge_id(flow_id, upstream, downstream).to_string(),
        upstream_id: upstream.to_string(),
    };
    first(server, apply.call()).await
}

/// Goes on cancelling the other upstreams of a join that fired, as far as one step goes.
pub async fn ff_drain_sibling_cancel_group(
    server: &dyn Server,
    id: &ExecutionId,
) -> Result<SiblingsDrained, ScriptError> {
    ask(server, DrainSiblingCancelGroup { core: core_key(id) }.call()).await
}

/// Makes sure that a join which fired has its other upstreams looked at.
pub async fn ff_reconcile_sibling_cancel_group(
    server: &dyn Server,
    id: &ExecutionId,
) -> Result<SiblingsDrained, ScriptError> {
    ask(server, ReconcileSiblingCancelGroup { core: core_key(id) }.call()).await
}

/// Whether the join of a member is decided.
pub async fn ff_evaluate_flow_eligibility(server: &dyn Server, id: &ExecutionId) -> Result<GroupState, ScriptError> {
    first(server, EvaluateFlowEligibility { core: core_key(id) }.call()).await
}

/// Lets a blocked member go where its decided join lets it go, and says where that is.
pub async fn ff_promote_blocked_to_eligible(server: &dyn Server, id: &ExecutionId) -> Result<PublicState, ScriptError> {
    first(server, PromoteBlockedToEligible { core: core_key(id) }.call()).await
}

/// The one word a function answers.
async fn first<T: std::str::FromStr>(server: &dyn Server, call: Fcall) -> Result<T, ScriptError> {
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    fields.read()
}

impl FromFcallResult for Cascaded {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (resolved, cascaded_children) = (fields.read()?, fields.read()?);
        Ok(Self { resolved, cascaded_children, more: fields.maybe_text()?.is_some() })
    }
}

impl FromFcallResult for SiblingsDrained {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { cancelled: fields.read()?, more: fields.maybe_text()?.is_some() })
    }
}
