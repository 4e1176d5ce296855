//! Making a flow without members, to be grown.

use bytes::Bytes;
use ff_core::contracts::{CreateFlowArgs, SubmittedFlow};
use ff_core::execution::Tags;
use ff_core::partition::PartitionConfig;
use ff_core::types::FlowId;

use super::core_key;
use crate::record::trace_fields;
use crate::signature::CreateFlow;
use crate::{FcallResult, Fields, ScriptError, Server};

/// Makes an empty flow that stays open until it is closed, or finds it.
pub async fn ff_create_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: CreateFlowArgs,
) -> Result<SubmittedFlow, ScriptError> {
    let header = args.header;
    let (traceparent, tracestate) = trace_fields(header.trace.as_deref());
    let create = CreateFlow {
        core: core_key(&header.flow_id, partitions),
        namespace: header.namespace.to_string(),
        kind: header.kind.to_string(),
        traceparent,
        tracestate,
        tags: flat(&header.tags),
    };
    let call = create.call();
    let (mut fields, duplicate) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    submitted(header.flow_id, &mut fields, duplicate)
}

/// What is told of a flow that is there now.
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

/// Labels as the functions take them: keys and values.
pub(super) fn flat(tags: &Tags) -> Vec<Bytes> {
    tags.iter().flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect()
}
