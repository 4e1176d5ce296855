//! Creating a flow: without members, or a whole graph part by part.

use ff_core::contracts::{CreateFlowArgs, StageFlowArgs, StagedFlow, SubmittedFlow};
use ff_core::partition::PartitionConfig;
use ff_core::types::FlowId;

use super::flow_core_key;
use super::graph::Graph;
use crate::execution::tag_items;
use crate::record::trace_fields;
use crate::server::ask_fields;
use crate::signature::{CreateFlow, SubmitFlow};
use crate::{Fields, ScriptError, Server};

/// Submits the next part of a graph. The flow becomes visible with the last part.
pub async fn ff_submit_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: StageFlowArgs,
) -> Result<StagedFlow, ScriptError> {
    let header = args.header;
    let (traceparent, tracestate) = trace_fields(header.trace.as_deref());
    let graph = Graph { flow_id: header.flow_id, partitions };
    let edges = args.edges.iter().flat_map(|edge| {
        let (upstream, downstream) = (graph.member(&edge.upstream), graph.member(&edge.downstream));
        let name = format!("{}->{}", edge.upstream, edge.downstream);
        graph.edge(&upstream, &downstream, edge.passes.as_ref(), name)
    });
    let submit = SubmitFlow {
        core: flow_core_key(&header.flow_id, partitions),
        namespace: header.namespace.to_string(),
        kind: header.kind.to_string(),
        traceparent,
        tracestate,
        tags: tag_items(&header.tags),
        fingerprint: String::from(args.fingerprint),
        part: args.part.into(),
        parts: args.parts.into(),
        edges: edges.collect(),
        nodes: args.nodes.into_iter().map(|node| graph.node(node)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let (mut fields, duplicate) = ask_fields(server, submit.call()).await?;
    match fields.text()?.as_str() {
        "staged" => Ok(StagedFlow::Staged { next_part: fields.read()? }),
        "submitted" => Ok(StagedFlow::Submitted(submitted(header.flow_id, &mut fields, duplicate)?)),
        other => Err(ScriptError::parse(format!("a part of a flow cannot be {other}"))),
    }
}

/// Creates an empty flow that stays open until it is closed, or finds the existing one.
pub async fn ff_create_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CreateFlowArgs,
) -> Result<SubmittedFlow, ScriptError> {
    let header = args.header;
    let (traceparent, tracestate) = trace_fields(header.trace.as_deref());
    let create = CreateFlow {
        core: flow_core_key(&header.flow_id, partitions),
        namespace: header.namespace.to_string(),
        kind: header.kind.to_string(),
        traceparent,
        tracestate,
        tags: tag_items(&header.tags),
    };
    let (mut fields, duplicate) = ask_fields(server, create.call()).await?;
    submitted(header.flow_id, &mut fields, duplicate)
}

/// Reads the answer about a flow that exists.
pub(super) fn submitted(flow_id: FlowId, fields: &mut Fields, duplicate: bool) -> Result<SubmittedFlow, ScriptError> {
    Ok(SubmittedFlow {
        flow_id,
        state: fields.read()?,
        nodes: fields.read()?,
        edges: fields.read()?,
        graph_revision: fields.read()?,
        duplicate,
    })
}
