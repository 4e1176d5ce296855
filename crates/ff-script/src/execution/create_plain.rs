//! Handing in several pieces of plain work at once.

use bytes::Bytes;
use ff_core::contracts::{Start, SubmitArgs, Submitted};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId, Kind, LaneId, Namespace, Priority};

use super::{core_key, digest};
use crate::server::ask_each;
use crate::signature::CreateExecutions;
use crate::{ScriptError, Server};

/// Work that starts at once and has nothing particular about it.
pub struct PlainWork {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane: LaneId,
    pub kind: Kind,
    pub payload: Payload,
}

impl PlainWork {
    /// The work to submit, if it is plain.
    pub fn of(args: &SubmitArgs, partitions: &PartitionConfig) -> Option<Self> {
        Self::is(args).then(|| Self {
            execution_id: args.execution_id(partitions),
            namespace: args.namespace.clone(),
            lane: args.lane.clone(),
            kind: args.kind.clone(),
            payload: args.payload.clone(),
        })
    }

    /// Whether work is plain.
    pub fn is(args: &SubmitArgs) -> bool {
        args.idempotency_key.is_none()
            && args.start == Start::Now
            && args.priority == Priority::default()
            && args.tags.is_empty()
            && args.payload.content_type == ContentType::json()
            && args.policy.is_default()
            && args.trace.is_none()
    }
}

/// Creates executions of one lane and kind on one partition, or finds those already there, each with its own answer.
pub async fn ff_create_executions(
    server: &dyn Server,
    works: Vec<PlainWork>,
) -> Result<Vec<Result<Submitted, ScriptError>>, ScriptError> {
    let Some(first) = works.first() else { return Ok(Vec::new()) };
    let create = CreateExecutions {
        core: core_key(&first.execution_id),
        namespace: first.namespace.to_string(),
        lane_id: first.lane.to_string(),
        kind: first.kind.to_string(),
        works: works.into_iter().map(work).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect(),
    };
    ask_each(server, create.call()).await
}

/// One piece of work as the list has it.
fn work(PlainWork { execution_id, payload, .. }: PlainWork) -> Result<[Bytes; 3], ScriptError> {
    let digest = digest(&payload)?;
    Ok([execution_id.to_string().into(), payload.bytes, digest])
}
