//! Members, edges and joins as the functions take them: lists of texts, where an absent value is empty.

use bytes::Bytes;
use ff_core::contracts::{EdgeAddition, GrowFlowArgs, GrownFlow, MemberRef, NodeSpec};
use ff_core::flow::{Join, PassMode, edge_id, member_id};
use ff_core::partition::PartitionConfig;
use ff_core::types::{EdgeId, ExecutionId, FlowId, NodeName};

use super::flow_core_key;
use crate::execution::{digest, start, tag_items, unless_default, unless_json};
use crate::server::ask;
use crate::signature::GrowFlow;
use crate::{Fcall, Fields, ScriptError, Server};

/// The flow of a graph, and the partitions by which its members are placed.
#[derive(Clone, Copy)]
pub(crate) struct Graph<'p> {
    pub(crate) flow_id: FlowId,
    pub(crate) partitions: &'p PartitionConfig,
}

impl Graph<'_> {
    /// Returns the execution of a node.
    pub(crate) fn member(self, node: &NodeName) -> ExecutionId {
        member_id(&self.flow_id, node, self.partitions)
    }

    /// Returns the execution that a reference names.
    pub(crate) fn resolve(self, member: &MemberRef) -> ExecutionId {
        match member {
            MemberRef::Node(node) => self.member(node),
            MemberRef::Execution(id) => *id,
        }
    }

    /// Encodes a member.
    pub(crate) fn node(self, node: NodeSpec) -> Result<Vec<Bytes>, ScriptError> {
        let (start_in_ms, start_at) = start(node.start);
        let timeouts = &node.policy.timeout_policy;
        let mut items = vec![
            self.member(&node.name).to_string().into(),
            node.name.to_string().into(),
            node.lane.to_string().into(),
            node.kind.to_string().into(),
            node.payload.bytes.clone(),
            digest(&node.payload)?,
            unless_json(&node.payload.content_type).unwrap_or_default().into(),
            node.priority.get().to_string().into(),
            maybe(start_in_ms),
            maybe(start_at),
            maybe(timeouts.execution_deadline_ms),
            maybe(timeouts.attempt_timeout_ms),
            unless_default(&node.policy)?.unwrap_or_default().into(),
        ];
        items.extend(join(node.join));
        items.push(node.tags.len().to_string().into());
        items.extend(tag_items(&node.tags));
        Ok(items)
    }

    /// Encodes an edge, with the caller's name for it.
    pub(crate) fn edge(
        self,
        upstream: &ExecutionId,
        downstream: &ExecutionId,
        passes: Option<&PassMode>,
        name: String,
    ) -> [Bytes; 6] {
        let (passes, input) = match passes {
            None => ("", String::new()),
            Some(PassMode::Payload) => ("payload", String::new()),
            Some(PassMode::Input(name)) => ("input", name.to_string()),
        };
        [
            self.edge_id(upstream, downstream).to_string().into(),
            upstream.to_string().into(),
            downstream.to_string().into(),
            Bytes::from_static(passes.as_bytes()),
            input.into(),
            name.into(),
        ]
    }

    /// Encodes the join of the edges into a member.
    pub(crate) fn join(self, member: &MemberRef, how: Join) -> Vec<Bytes> {
        let mut items = vec![self.resolve(member).to_string().into(), member.to_string().into()];
        items.extend(join(how));
        items
    }

    pub(crate) fn edge_id(self, upstream: &ExecutionId, downstream: &ExecutionId) -> EdgeId {
        edge_id(&self.flow_id, upstream, downstream)
    }
}

/// Encodes a join: its variant, the number of upstreams it needs, and the action on the other upstreams.
fn join(join: Join) -> [Bytes; 3] {
    let (variant, k, on_satisfied) = match join {
        Join::AllOf => ("all_of", String::new(), String::new()),
        Join::AnyOf { on_satisfied } => ("any_of", String::new(), on_satisfied.to_string()),
        Join::Quorum { k, on_satisfied } => ("quorum", k.to_string(), on_satisfied.to_string()),
    };
    [Bytes::from_static(variant.as_bytes()), k.into(), on_satisfied.into()]
}

fn maybe(number: Option<u64>) -> Bytes {
    number.map(|number| number.to_string()).unwrap_or_default().into()
}

/// Adds members and edges, all of them or none.
pub async fn ff_grow_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: GrowFlowArgs,
) -> Result<GrownFlow, ScriptError> {
    let graph = Graph { flow_id: args.flow_id, partitions };
    let (holder, fence) = args.holder.unzip();
    let grow = GrowFlow {
        core: flow_core_key(&args.flow_id, partitions),
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
    grown(server, grow.call()).await
}

pub(crate) fn grown_edge(graph: Graph<'_>, edge: &EdgeAddition) -> [Bytes; 6] {
    let (upstream, downstream) = (graph.resolve(&edge.upstream), graph.resolve(&edge.downstream));
    let name = format!("{}->{}", edge.upstream, edge.downstream);
    graph.edge(&upstream, &downstream, edge.passes.as_ref(), name)
}

/// Sends a change of a graph, and reads its answer.
pub(crate) async fn grown(server: &dyn Server, call: Fcall) -> Result<GrownFlow, ScriptError> {
    let mut fields = ask(server, call).await?;
    Ok(GrownFlow {
        graph_revision: fields.read()?,
        members: fields.items(Fields::read)?,
        edges: fields.items(|state| Ok((state.read()?, state.read()?)))?,
    })
}
