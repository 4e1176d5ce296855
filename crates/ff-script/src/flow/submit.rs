//! Handing in a whole graph, part by part.

use ff_core::contracts::{StageFlowArgs, StagedFlow};
use ff_core::partition::PartitionConfig;

use super::core_key;
use super::create::{flat, submitted};
use super::graph::Graph;
use crate::record::trace_fields;
use crate::signature::SubmitFlow;
use crate::{FcallResult, ScriptError, Server};

/// Takes the next part of a graph; with the last one the flow is there, whole.
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
        core: core_key(&header.flow_id, partitions),
        namespace: header.namespace.to_string(),
        kind: header.kind.to_string(),
        traceparent,
        tracestate,
        tags: flat(&header.tags),
        fingerprint: String::from(args.fingerprint),
        part: args.part.into(),
        parts: args.parts.into(),
        edges: edges.collect(),
        nodes: args.nodes.into_iter().map(|node| graph.node(node)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let call = submit.call();
    let (mut fields, duplicate) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    match fields.text()?.as_str() {
        "staged" => Ok(StagedFlow::Staged { next_part: fields.read()? }),
        "submitted" => Ok(StagedFlow::Submitted(submitted(header.flow_id, &mut fields, duplicate)?)),
        other => Err(ScriptError::parse(format!("a part of a flow cannot be {other}"))),
    }
}
