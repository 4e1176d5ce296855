//! Notifying one child of the end of an upstream.

use bytes::Bytes;
use ff_core::execution::Outcome;
use ff_core::flow::GroupState;
use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::partition::Partition;
use ff_core::state::TerminalOutcome;
use ff_core::types::{AttemptIndex, EdgeId, ExecutionId, FlowId, LaneId};

use crate::server::ask;
use crate::signature::ResolveDependency;
use crate::{ScriptError, Server};

/// An edge to settle, and the end of its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveDependencyArgs {
    pub edge_id: EdgeId,
    /// The outcome of the upstream.
    pub upstream_outcome: Outcome,
    pub flow_id: FlowId,
    pub downstream_execution_id: ExecutionId,
}

/// The state of the edge and of its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveDependencyResult {
    /// The edge was settled before.
    AlreadyResolved,
    Satisfied {
        /// The upstream's result took the place of the child's payload.
        data_injected: bool,
        group: GroupState,
    },
    Impossible {
        child_skipped: bool,
        group: GroupState,
    },
}

/// Settles an edge and judges its join.
pub async fn ff_resolve_dependency(
    server: &dyn Server,
    keys: &ResolveDependencyOpKeys,
    args: &ResolveDependencyArgs,
) -> Result<ResolveDependencyResult, ScriptError> {
    let (child, index, lane) = (&keys.child, &keys.index, &keys.lane_id);
    let resolve = ResolveDependency {
        exec_core: child.core(),
        deps_meta: child.deps_meta(),
        deps_unresolved: child.deps_unresolved(),
        dep_edge: child.dep_edge(&keys.edge_id),
        lane_eligible: index.lane_eligible(lane),
        lane_terminal: index.lane_terminal(lane),
        lane_blocked_dependencies: index.lane_blocked_dependencies(lane),
        attempt_hash: child.attempt_hash(keys.attempt_index),
        stream_meta: child.stream_meta(keys.attempt_index),
        payload: child.payload(),
        upstream_result: keys.upstream.result(),
        edgegroup: keys.flow.edgegroup(&keys.downstream_execution_id),
        incoming: keys.flow.incoming(&keys.downstream_execution_id),
        pending_cancel_groups: keys.flows.pending_cancel_groups(),
        edge_id: args.edge_id.to_string(),
        upstream_outcome: TerminalOutcome::from(args.upstream_outcome).to_string(),
        now_ms: Bytes::new(),
        flow_id: args.flow_id.to_string(),
        downstream_execution_id: args.downstream_execution_id.to_string(),
    };
    let mut fields = ask(server, resolve.call()).await?;
    let outcome = fields.text()?;
    if outcome == "already_resolved" {
        return Ok(ResolveDependencyResult::AlreadyResolved);
    }
    let (effect, group) = (fields.text()?, fields.read()?);
    match outcome.as_str() {
        "satisfied" => Ok(ResolveDependencyResult::Satisfied { data_injected: effect == "data_injected", group }),
        "impossible" => Ok(ResolveDependencyResult::Impossible { child_skipped: effect == "child_skipped", group }),
        other => Err(ScriptError::parse(format!("an edge cannot be {other}"))),
    }
}

/// The parts from which the keys of the call are built.
#[derive(Clone, Debug)]
pub struct ResolveDependencyOpKeys {
    pub child: ExecKeyContext,
    pub upstream: ExecKeyContext,
    pub flow: FlowKeyContext,
    pub index: IndexKeys,
    pub flows: FlowIndexKeys,
    pub edge_id: EdgeId,
    pub downstream_execution_id: ExecutionId,
    /// The lane of the child, by its name in indexes.
    pub lane_id: LaneId,
    /// The current attempt of the child.
    pub attempt_index: AttemptIndex,
}

impl ResolveDependencyOpKeys {
    /// Builds the parts for an edge between two members of a flow.
    pub fn new(
        flow_id: &FlowId,
        edge_id: &EdgeId,
        upstream: &ExecutionId,
        downstream: &ExecutionId,
        lane_id: &LaneId,
        attempt_index: AttemptIndex,
    ) -> Self {
        let partition = Partition::of(downstream);
        Self {
            child: ExecKeyContext::new(&partition, downstream),
            upstream: ExecKeyContext::new(&partition, upstream),
            flow: FlowKeyContext::new(&partition, flow_id),
            index: IndexKeys::new(&partition),
            flows: FlowIndexKeys::new(&partition),
            edge_id: *edge_id,
            downstream_execution_id: *downstream,
            lane_id: lane_id.clone(),
            attempt_index,
        }
    }
}
