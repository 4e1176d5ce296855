//! Functions that submit executions.

use bytes::Bytes;
use ff_core::contracts::{SubmitArgs, SubmittedExecution};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::singleton::KeyRule;
use ff_core::state::PublicState;
use ff_core::types::{ContentType, ExecutionId};

use super::{core_key, start, tag_items};
use crate::record::trace_fields;
use crate::server::{ask_each, ask_fields};
use crate::signature::{CreateExecution, CreateExecutions, CreateKeyedExecution};
use crate::{Fields, ScriptError, Server};

/// Creates an execution, or finds the one already created under the same key or id.
pub async fn ff_create_execution(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: SubmitArgs,
) -> Result<SubmittedExecution, ScriptError> {
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
        tags: tag_items(&args.tags),
    };
    let (fields, duplicate) = ask_fields(server, create.call()).await?;
    submitted(fields, duplicate)
}

/// Creates an execution under a singleton or debounce key, or resolves the conflict with a live execution of the key.
pub async fn ff_create_keyed_execution(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: SubmitArgs,
    rule: &KeyRule,
) -> Result<SubmittedExecution, ScriptError> {
    let id = args.execution_id(partitions);
    let (start_in_ms, start_at) = start(args.start);
    let (traceparent, tracestate) = trace_fields(args.trace.as_deref());
    let timeouts = &args.policy.timeout_policy;
    let (on_conflict, debounce_ms) = match rule {
        KeyRule::Singleton(singleton) => (singleton.on_conflict.as_str(), None),
        KeyRule::Debounce(debounce) => ("debounce", Some(debounce.delay_ms)),
    };
    let create = CreateKeyedExecution {
        core: core_key(&id),
        namespace: args.namespace.to_string(),
        lane_id: args.lane.to_string(),
        kind: args.kind.to_string(),
        digest: digest(&args.payload)?,
        content_type: unless_json(&args.payload.content_type),
        payload: args.payload.bytes,
        priority: args.priority.get().into(),
        queue_key: rule.queue().to_string(),
        on_conflict: on_conflict.to_owned(),
        debounce_ms,
        debounce_most_ms: debounce_ms.map(|delay| delay * limits::DEBOUNCE_SPANS),
        start_in_ms,
        start_at,
        deadline_in_ms: timeouts.execution_deadline_ms,
        attempt_timeout_ms: timeouts.attempt_timeout_ms,
        policy_json: unless_default(&args.policy)?,
        traceparent,
        tracestate,
        tags: tag_items(&args.tags),
    };
    let (mut fields, duplicate) = ask_fields(server, create.call()).await?;
    let (execution_id, public_state) = (fields.read()?, fields.read()?);
    Ok(SubmittedExecution { execution_id, public_state, duplicate, conflict: fields.maybe_read()? })
}

/// Reads the answer to a submission. One that waits for a worker has its id alone.
fn submitted(mut fields: Fields, duplicate: bool) -> Result<SubmittedExecution, ScriptError> {
    let execution_id = fields.read()?;
    let public_state = if fields.is_empty() { PublicState::Waiting } else { fields.read()? };
    Ok(SubmittedExecution { execution_id, public_state, duplicate, conflict: None })
}

/// Returns the content type, unless it is JSON, which is not stored.
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

/// Returns the fingerprint of a payload as bytes, half as long as its text.
pub(crate) fn digest(payload: &Payload) -> Result<Bytes, ScriptError> {
    let hex = String::from(payload.fingerprint());
    let digest = u128::from_str_radix(&hex, 16).map_err(|error| ScriptError::parse(error.to_string()))?;
    Ok(Bytes::copy_from_slice(&digest.to_be_bytes()))
}

/// Creates executions of one partition in order, or finds the existing ones, each with its own answer.
pub async fn ff_create_executions(
    server: &dyn Server,
    works: Vec<(ExecutionId, SubmitArgs)>,
) -> Result<Vec<Result<SubmittedExecution, ScriptError>>, ScriptError> {
    let Some((first, _)) = works.first() else { return Ok(Vec::new()) };
    let (core, mut list) = (core_key(first), Vec::new());
    let mut members = works.into_iter().map(|(id, args)| Member { id, few: few_items(&args), args }).peekable();
    while let Some(first) = members.next() {
        let mut group = vec![first];
        while let Some(alike) = members.next_if(|member| group.first().is_some_and(|first| first.is_like(member))) {
            group.push(alike);
        }
        push_group(&mut list, group)?;
    }
    ask_each(server, CreateExecutions { core, works: list }.call(), submitted).await
}

/// One of several submissions.
struct Member {
    id: ExecutionId,
    args: SubmitArgs,
    /// Names and values of the fields that few executions have.
    few: Vec<Bytes>,
}

impl Member {
    /// Returns whether two submissions belong in one group.
    fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (&self.args, &other.args);
        (&one.namespace, &one.lane, &one.kind, one.priority) == (&two.namespace, &two.lane, &two.kind, two.priority)
            && one.payload.content_type == two.payload.content_type
            && one.policy == two.policy
            && (one.tags.len(), self.few.len()) == (two.tags.len(), other.few.len())
    }
}

/// Appends a group to the list: the values common to its members, then each member.
fn push_group(list: &mut Vec<Bytes>, members: Vec<Member>) -> Result<(), ScriptError> {
    let Some(Member { args: first, few, .. }) = members.first() else { return Ok(()) };
    let content_type = unless_json(&first.payload.content_type).unwrap_or_default();
    let policy = unless_default(&first.policy)?.unwrap_or_default();
    list.extend([first.namespace.to_string(), first.lane.to_string(), first.kind.to_string()].map(Bytes::from));
    list.extend([content_type, first.priority.get().to_string(), policy].map(Bytes::from));
    let counts = [2 * first.tags.len(), few.len(), members.len()];
    list.extend(counts.map(|count| Bytes::from(count.to_string())));
    for Member { id, args, few } in members {
        let digest = digest(&args.payload)?;
        list.extend([id.to_string().into(), args.payload.bytes, digest]);
        list.extend(tag_items(&args.tags));
        list.extend(few);
    }
    Ok(())
}

/// Returns names and values of the fields that few executions have.
fn few_items(args: &SubmitArgs) -> Vec<Bytes> {
    let (start_in_ms, start_at) = start(args.start);
    let (traceparent, tracestate) = trace_fields(args.trace.as_deref());
    let timeouts = &args.policy.timeout_policy;
    let dedup_window_ms = args.idempotency_key.as_ref().map(|_| args.policy.dedup_window_ms);
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let few = [
        ("idempotency_key", args.idempotency_key.as_ref().map(ToString::to_string)),
        ("dedup_window_ms", number(dedup_window_ms)),
        ("start_in_ms", number(start_in_ms)),
        ("start_at", number(start_at)),
        ("deadline_in_ms", number(timeouts.execution_deadline_ms)),
        ("attempt_timeout_ms", number(timeouts.attempt_timeout_ms)),
        ("traceparent", traceparent),
        ("tracestate", tracestate),
    ];
    let given = few.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.flat_map(|(name, value)| [Bytes::from_static(name.as_bytes()), value.into()]).collect()
}
