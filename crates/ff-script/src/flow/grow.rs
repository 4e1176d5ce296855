//! Adding members and edges to a flow that lives.

use ff_core::contracts::{GrowFlowArgs, Grown, GrownEdge, JoinSpec, NodeSpec};
use ff_core::partition::PartitionConfig;
use ff_core::types::FlowId;

use super::core_key;
use super::graph::Graph;
use crate::server::ask;
use crate::signature::{AddExecutionToFlow, GrowFlow, SetEdgeGroupPolicy, StageDependencyEdge};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Adds members and edges, all of them or none.
pub async fn ff_grow_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: GrowFlowArgs,
) -> Result<Grown, ScriptError> {
    let graph = Graph { flow_id: args.flow_id, partitions };
    let (holder, fence) = args.holder.unzip();
    let grow = GrowFlow {
        core: core_key(&args.flow_id, partitions),
        joins: args.joins.iter().flat_map(|spec| graph.join(&spec.member, spec.join)).collect(),
        edges: args.edges.iter().flat_map(|edge| grown_edge(graph, edge)).collect(),
        nodes: args.nodes.into_iter().map(|node| graph.node(node)).collect::<Result<Vec<_>, _>>()?.concat(),
        expected_graph_revision: args.expected_graph_revision,
        holder_id: holder.map(|id| id.to_string()),
        lease_id: fence.map(|fence| fence.lease_id.to_string()),
        lease_epoch: fence.map(|fence| fence.lease_epoch.0),
        attempt_id: fence.map(|fence| fence.attempt_id.to_string()),
        idempotency_key: args.idempotency_key.map(|key| key.to_string()),
    };
    ask(server, grow.call()).await
}

/// Adds one member.
pub async fn ff_add_execution_to_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    node: NodeSpec,
) -> Result<Grown, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, node) = (core_key(flow_id, partitions), graph.node(node)?);
    ask(server, AddExecutionToFlow { core, node, expected_graph_revision: None }.call()).await
}

/// Adds one edge, only if the graph has not changed since a revision, when one is said.
pub async fn ff_stage_dependency_edge(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    edge: &GrownEdge,
    expected_graph_revision: Option<u64>,
) -> Result<Grown, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, edges) = (core_key(flow_id, partitions), grown_edge(graph, edge).to_vec());
    ask(server, StageDependencyEdge { core, edges, expected_graph_revision }.call()).await
}

/// Says how the edges into a member are to join, which may all be still to come.
pub async fn ff_set_edge_group_policy(
    server: &dyn Server,
    partitions: &PartitionConfig,
    flow_id: &FlowId,
    spec: &JoinSpec,
) -> Result<u64, ScriptError> {
    let graph = Graph { flow_id: *flow_id, partitions };
    let (core, joins) = (core_key(flow_id, partitions), graph.join(&spec.member, spec.join));
    let grown: Grown = ask(server, SetEdgeGroupPolicy { core, joins, expected_graph_revision: None }.call()).await?;
    Ok(grown.graph_revision)
}

fn grown_edge(graph: Graph<'_>, edge: &GrownEdge) -> [bytes::Bytes; 6] {
    let (upstream, downstream) = (graph.resolve(&edge.upstream), graph.resolve(&edge.downstream));
    let name = format!("{}->{}", edge.upstream, edge.downstream);
    graph.edge(&upstream, &downstream, edge.passes.as_ref(), name)
}

impl FromFcallResult for Grown {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let graph_revision = fields.read()?;
        let (mut members, mut edges) = (Vec::new(), Vec::new());
        let mut ids = fields.nested()?;
        while !ids.is_empty() {
            members.push(ids.read()?);
        }
        let mut states = fields.nested()?;
        while !states.is_empty() {
            edges.push((states.read()?, states.read()?));
        }
        Ok(Self { graph_revision, members, edges })
    }
}
