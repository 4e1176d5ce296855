//! Handing in work.

use bytes::Bytes;
use ff_core::contracts::{Start, SubmitArgs, Submitted};
use ff_core::engine_error::Refusal;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{ContentType, ExecutionId, Kind, LaneId, Namespace, Priority};

use super::{core_key, start};
use crate::record::trace_fields;
use crate::server::{ask, ask_each};
use crate::signature::{CreateExecution, CreateExecutions};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Creates an execution, or finds the one already created under the same key or id.
pub async fn ff_create_execution(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: SubmitArgs,
) -> Result<Submitted, ScriptError> {
    let id = args.execution_id(partitions);
    let (start_in_ms, start_at) = start(args.start);
    let (traceparent, tracestate) = trace_fields(args.trace.as_deref());
    let timeouts = &args.policy.timeout_policy;
    let create = CreateExecution {
        core: core_key(&id),
        namespace: args.namespace.to_string(),
        lane_id: args.lane.to_string(),
        kind: args.kind.to_string(),
        digest: digest(&args.payload)?,
        content_type: unless_json(&args.payload.content_type),
        payload: args.payload.bytes,
        priority: args.priority.get().into(),
        idempotency_key: args.idempotency_key.map(|key| key.to_string()),
        dedup_window_ms: args.policy.dedup_window_ms,
        start_in_ms,
        start_at,
        deadline_in_ms: timeouts.execution_deadline_ms,
        attempt_timeout_ms: timeouts.attempt_timeout_ms,
        policy_json: unless_default(&args.policy)?,
        traceparent,
        tracestate,
        tags: args.tags.iter().flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect(),
    };
    ask(server, create.call()).await
}

impl FromFcallResult for Submitted {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, duplicate) = result.into_fields();
        Ok(Self { execution_id: fields.read()?, public_state: fields.read()?, duplicate })
    }
}

/// The type of some bytes, where it has to be kept.
pub(crate) fn unless_json(content_type: &ContentType) -> Option<String> {
    (*content_type != ContentType::json()).then(|| content_type.to_string())
}

pub(crate) fn unless_default(policy: &Policy) -> Result<Option<String>, ScriptError> {
    if policy.is_default() {
        return Ok(None);
    }
    let json = serde_json::to_string(policy);
    json.map(Some).map_err(|error| Refusal::invalid("policy", error).into())
}

/// The fingerprint of a payload as the bytes it stands for, half as long as its text.
pub(crate) fn digest(payload: &Payload) -> Result<Bytes, ScriptError> {
    let hex = String::from(payload.fingerprint());
    let digest = u128::from_str_radix(&hex, 16).map_err(|error| ScriptError::parse(error.to_string()))?;
    Ok(Bytes::copy_from_slice(&digest.to_be_bytes()))
}

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
