//! Functions of the published contract that no store of this project calls, because a pump or a batch does the same for
//! many executions at once. They stay for programs that call them by name; their Lua is under `lua/published/`.

use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{
    AssignArgs, ClaimedExecution, DeliverArgs, DeliveredSignal, EdgeAddition, ExpireSuspensionArgs,
    ExpireSuspensionResult, GrantIssued, GrownFlow, JoinSpec, NodeSpec,
};
use ff_core::execution::BlockDetail;
use ff_core::flow::{EdgeState, GroupState, edge_id};
use ff_core::keys::FlowKeyContext;
use ff_core::lease::Holder;
use ff_core::partition::{Partition, PartitionConfig};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, TimestampMs, WaitpointId};

use crate::execution::{core_key, moment, word, written};
use crate::flow::{Graph, flow_core_key, grown, grown_edge};
use crate::lease::{ClaimTerms, issued};
use crate::server::{ask, ask_outcome, ask_word};
use crate::signal::{VerifiedToken, delivered, delivery};
use crate::signature::{
    AckCancelMember, AddExecutionToFlow, ApplyDependencyToChild, BlockExecutionForAdmission,
    BufferSignalForPendingWaitpoint, ClaimResumedExecution, DrainSiblingCancelGroup, EvaluateFlowEligibility,
    ExpireExecution, ExpireSuspension, IssueGrantAndClaim, IssueReclaimGrant, MarkLeaseExpiredIfDue, PromoteDelayed,
    ReclaimExecution, ReconcileSiblingCancelGroup, SetEdgeGroupPolicy, StageDependencyEdge, UnblockExecution,
};
use crate::suspension::ExpireSuspensionOpKeys;
use crate::{Fcall, FcallResult, FromFcallResult, ScriptError, Server};

/// Blocks an execution that may not run now, and returns its new state.
pub async fn ff_block_execution_for_admission(
    server: &dyn Server,
    id: &ExecutionId,
    detail: &BlockDetail,
) -> Result<PublicState, ScriptError> {
    let block = BlockExecutionForAdmission {
        core: core_key(id),
        on: word(detail.blocker()).to_owned(),
        retry_at: detail.retry_at().map(moment),
        detail: written(detail)?.into(),
    };
    ask_word(server, block.call()).await
}

/// Makes an execution that admission has blocked ready again, and returns its new state.
pub async fn ff_unblock_execution(server: &dyn Server, id: &ExecutionId) -> Result<PublicState, ScriptError> {
    ask_word(server, UnblockExecution { core: core_key(id) }.call()).await
}

/// Adds one member.
pub async fn ff_add_execution_to_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    node: NodeSpec,
) -> Result<GrownFlow, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, node) = (flow_core_key(flow_id, partitions), graph.node(node)?);
    grown(server, AddExecutionToFlow { core, node, expected_graph_revision: None }.call()).await
}

/// Adds one edge. If a revision is given, refuses unless the graph has it.
pub async fn ff_stage_dependency_edge(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    edge: &EdgeAddition,
    expected_graph_revision: Option<u64>,
) -> Result<GrownFlow, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, edges) = (flow_core_key(flow_id, partitions), grown_edge(graph, edge).to_vec());
    grown(server, StageDependencyEdge { core, edges, expected_graph_revision }.call()).await
}

/// Sets how the edges into a member join. It may come before any edge.
pub async fn ff_set_edge_group_policy(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    spec: &JoinSpec,
) -> Result<u64, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, joins) = (flow_core_key(flow_id, partitions), graph.join(&spec.member, spec.join));
    ask_word(server, SetEdgeGroupPolicy { core, joins, expected_graph_revision: None }.call()).await
}

/// Returns the state of an edge. Settles it first, if its upstream has ended without a notification.
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
    ask_word(server, apply.call()).await
}

/// Returns the state of a member's join.
pub async fn ff_evaluate_flow_eligibility(server: &dyn Server, id: &ExecutionId) -> Result<GroupState, ScriptError> {
    ask_word(server, EvaluateFlowEligibility { core: core_key(id) }.call()).await
}

/// Continues cancelling the other upstreams of a join that fired, up to the bound of one step.
pub async fn ff_drain_sibling_cancel_group(server: &dyn Server, id: &ExecutionId) -> Result<DrainReply, ScriptError> {
    drained(server, DrainSiblingCancelGroup { core: core_key(id) }.call()).await
}

/// Repairs the cancellation of the other upstreams of a join that fired.
pub async fn ff_reconcile_sibling_cancel_group(
    server: &dyn Server,
    id: &ExecutionId,
) -> Result<DrainReply, ScriptError> {
    drained(server, ReconcileSiblingCancelGroup { core: core_key(id) }.call()).await
}

async fn drained(server: &dyn Server, call: Fcall) -> Result<DrainReply, ScriptError> {
    let mut fields = ask(server, call).await?;
    Ok(DrainReply { cancelled: fields.read()?, more: fields.maybe_text()?.is_some() })
}

/// The progress of cancelling the other upstreams of a join that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainReply {
    /// Number of executions that ended with this step.
    pub cancelled: u32,
    /// Whether some upstreams are still to be checked.
    pub more: bool,
}

/// Cancels one member of a cancelled flow, unless the flow spares it, and returns its new state.
pub async fn ff_ack_cancel_member(
    server: &dyn Server,
    flow_id: &FlowId,
    id: &ExecutionId,
) -> Result<PublicState, ScriptError> {
    let core = FlowKeyContext::new(&Partition::of(id), flow_id).core();
    ask_word(server, AckCancelMember { core, execution_id: id.to_string() }.call()).await
}

/// Claims one execution whose attempt resumes after a suspension or a delay.
pub async fn ff_claim_resumed_execution(
    server: &dyn Server,
    id: &ExecutionId,
    holder: &Holder,
    lease_ttl_ms: u64,
    nonce: &Nonce,
) -> Result<ClaimedExecution, ScriptError> {
    let claim = ClaimResumedExecution {
        core: core_key(id),
        worker_id: holder.worker_id.to_string(),
        worker_instance_id: holder.worker_instance_id.to_string(),
        lease_ttl_ms,
        lease_id: nonce.lease(0).0.to_string(),
    };
    claimed_one(server, claim.call(), lease_ttl_ms, nonce).await
}

/// Assigns an execution whose lease has expired to one worker instance for a while.
pub async fn ff_issue_reclaim_grant(server: &dyn Server, args: AssignArgs) -> Result<GrantIssued, ScriptError> {
    let AssignArgs { execution_id, worker_instance_id, ttl_ms, reason, requested_by } = args;
    let (core, worker_instance_id) = (core_key(&execution_id), worker_instance_id.to_string());
    issued(server, IssueReclaimGrant { core, worker_instance_id, ttl_ms, reason, requested_by }.call()).await
}

/// Claims one execution whose lease expired, under the grant of the holder's worker instance.
pub async fn ff_reclaim_execution(
    server: &dyn Server,
    id: &ExecutionId,
    holder: &Holder,
    lease_ttl_ms: u64,
    nonce: &Nonce,
) -> Result<ClaimedExecution, ScriptError> {
    let claim = claim_call(id, holder, lease_ttl_ms, nonce);
    // Both functions take the same keys and arguments.
    claimed_one(server, Fcall { signature: &ReclaimExecution::SIGNATURE, ..claim }, lease_ttl_ms, nonce).await
}

/// Claims one execution that waits, or that is assigned to the holder's worker instance.
pub async fn ff_issue_grant_and_claim(
    server: &dyn Server,
    id: &ExecutionId,
    holder: &Holder,
    lease_ttl_ms: u64,
    nonce: &Nonce,
) -> Result<ClaimedExecution, ScriptError> {
    claimed_one(server, claim_call(id, holder, lease_ttl_ms, nonce), lease_ttl_ms, nonce).await
}

fn claim_call(id: &ExecutionId, holder: &Holder, lease_ttl_ms: u64, nonce: &Nonce) -> Fcall {
    let (lease_id, attempt_id) = nonce.lease(0);
    let claim = IssueGrantAndClaim {
        core: core_key(id),
        worker_id: holder.worker_id.to_string(),
        worker_instance_id: holder.worker_instance_id.to_string(),
        lease_ttl_ms,
        lease_id: lease_id.to_string(),
        attempt_id: attempt_id.to_string(),
    };
    claim.call()
}

/// Sends a claim of one execution, and reads its answer.
async fn claimed_one(
    server: &dyn Server,
    call: Fcall,
    lease_ttl_ms: u64,
    nonce: &Nonce,
) -> Result<ClaimedExecution, ScriptError> {
    let mut fields = ask(server, call).await?;
    let lease_expires_at = TimestampMs(fields.read()?);
    let (namespace, lane) = (fields.read()?, fields.read()?);
    let given = ClaimTerms { namespace, lane, nonce: *nonce, lease_ttl_ms, lease_expires_at };
    given.claimed(0, fields.nested()?, server).await
}

/// Buffers a signal for a pending waitpoint, and refuses it for any other.
pub async fn ff_buffer_signal_for_pending_waitpoint(
    server: &dyn Server,
    args: DeliverArgs,
    waitpoint: &WaitpointId,
    token: &VerifiedToken,
    nonce: &Nonce,
) -> Result<DeliveredSignal, ScriptError> {
    let deliver = delivery(args, waitpoint, token, nonce).call();
    // Both functions take the same keys and arguments.
    delivered(server, Fcall { signature: &BufferSignalForPendingWaitpoint::SIGNATURE, ..deliver }).await
}

/// Makes a delayed execution ready for a worker, if its delay is over.
pub async fn ff_promote_delayed(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    fired(server, PromoteDelayed { core: core_key(id) }.call()).await
}

/// Ends an execution as expired, if its deadline has come.
pub async fn ff_expire_execution(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    fired(server, ExpireExecution { core: core_key(id) }.call()).await
}

/// Reclaims an execution from its holder, if the lease has expired.
pub async fn ff_mark_lease_expired_if_due(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    fired(server, MarkLeaseExpiredIfDue { core: core_key(id) }.call()).await
}

/// The effect of a call that fires a timer of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueOutcome {
    /// It fired, and the execution has this state now.
    Fired(PublicState),
    /// It was not due, and nothing changed.
    NotYetDue(PublicState),
}

async fn fired(server: &dyn Server, call: Fcall) -> Result<DueOutcome, ScriptError> {
    let mut fields = ask(server, call).await?;
    let word = fields.text()?;
    if !fields.is_empty() {
        return Ok(DueOutcome::NotYetDue(fields.read()?));
    }
    let unknown = |error| ScriptError::parse(format!("no execution is {word}: {error}"));
    Ok(DueOutcome::Fired(word.parse().map_err(unknown)?))
}

/// Applies the timeout behaviour of a suspension, if its timeout has come. This is the call for one execution; the pump
/// fires every suspension by itself.
pub async fn ff_expire_suspension(
    server: &dyn Server,
    keys: &ExpireSuspensionOpKeys<'_>,
    args: &ExpireSuspensionArgs,
) -> Result<ExpireSuspensionResult, ScriptError> {
    let ExpireSuspensionOpKeys { ctx, idx, lane_id, waitpoint_id, attempt_index } = *keys;
    let expire = ExpireSuspension {
        exec_core: ctx.core(),
        suspension_current: ctx.suspension_current(),
        waitpoint: ctx.waitpoint(waitpoint_id),
        waitpoint_condition: ctx.waitpoint_condition(waitpoint_id),
        attempt_hash: ctx.attempt_hash(attempt_index),
        stream_meta: ctx.stream_meta(attempt_index),
        suspension_timeout: idx.suspension_timeout(),
        lane_suspended: idx.lane_suspended(lane_id),
        lane_terminal: idx.lane_terminal(lane_id),
        lane_eligible: idx.lane_eligible(lane_id),
        lane_delayed: idx.lane_delayed(lane_id),
        lease_history: ctx.lease_history(),
        execution_id: args.execution_id.to_string(),
    };
    ask_outcome(server, expire.call()).await
}

impl FromFcallResult for ExpireSuspensionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let word = fields.text()?;
        if fields.is_empty() {
            return Ok(Self::AlreadySatisfied { reason: word });
        }
        let unknown = |error| ScriptError::parse(format!("no suspension ends as {word}: {error}"));
        Ok(Self::Expired { behavior_applied: word.parse().map_err(unknown)? })
    }
}
