//! The functions of steps.

use bytes::Bytes;
use ff_core::contracts::{ForkArgs, ForkedExecution, ListStepsArgs, RecordStepArgs, StepRecorded, StepsPage};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::step::{ForkOrigin, Step, StepCounter, StepHead, StepOutcome};

use crate::execution::{ExtraReads, core_key, digest, ff_read_execution, unless_json};
use crate::record::Hash;
use crate::server::{ask, ask_fields};
use crate::signature::{ForkExecution, ListSteps, RecordStep};
use crate::{Fields, ScriptError, Server};

/// Records a step of an execution once.
pub async fn ff_record_step(server: &dyn Server, args: RecordStepArgs) -> Result<StepRecorded, ScriptError> {
    let mut record = RecordStep {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        kind: args.step.kind.to_string(),
        name: args.step.name.to_string(),
        step_key: args.step.key.to_string().into(),
        started_at: args.started_at.map(|at| at.0.try_into().unwrap_or(0)),
        content_type: None,
        result: Bytes::new(),
        category: None,
        message: None,
        permanent: false,
    };
    match args.outcome {
        StepOutcome::Succeeded { result } => {
            (record.content_type, record.result) = (Some(result.content_type.to_string()), result.bytes);
        }
        StepOutcome::Failed { failure } => {
            record.category = Some(failure.category.to_string());
            (record.message, record.permanent) = (Some(failure.message), failure.permanent);
        }
    }
    let (mut fields, duplicate) = ask_fields(server, record.call()).await?;
    let seq = fields.read()?;
    let step = if duplicate { Some(step(&mut fields)?) } else { None };
    Ok(StepRecorded { seq, duplicate, step })
}

/// Lists the recorded steps of an execution in order.
pub async fn ff_list_steps(server: &dyn Server, args: ListStepsArgs) -> Result<StepsPage, ScriptError> {
    let list = ListSteps {
        core: core_key(&args.execution_id),
        after: args.after.map(u64::from),
        limit: args.limit as u64,
        room: limits::PAGE_BYTES as u64,
    };
    let mut fields = ask(server, list.call()).await?;
    page(fields.nested()?)
}

/// Reads a page of steps.
pub(crate) fn page(mut fields: Fields) -> Result<StepsPage, ScriptError> {
    let next = fields.maybe_read()?;
    let mut steps = Vec::new();
    while !fields.is_empty() {
        steps.push(step(&mut fields)?);
    }
    Ok(StepsPage { steps, next })
}

/// Reads a step: its head, which follows its size, and its result.
fn step(fields: &mut Fields) -> Result<Step, ScriptError> {
    let packed = fields.text()?;
    let json = packed.split_once(' ').map_or("", |(_, json)| json);
    let head: StepHead =
        serde_json::from_str(json).map_err(|error| ScriptError::parse(format!("a step cannot be read: {error}")))?;
    Ok(head.with_result(fields.maybe_bytes()?.unwrap_or_default()))
}

/// Creates an execution from another one.
///
/// Reads the payload first, because Lua cannot tell its fingerprint once an upstream has replaced it.
pub async fn ff_fork_execution(server: &dyn Server, args: ForkArgs) -> Result<ForkedExecution, ScriptError> {
    let beside = ExtraReads { payload: true, ..ExtraReads::default() };
    let payload = match ff_read_execution(server, &args.execution_id, beside).await {
        Ok(source) => source.payload.unwrap_or_default(),
        // The fork may exist although the source is gone by now.
        Err(ScriptError::ExecutionNotFound(_)) => Payload::default(),
        Err(error) => return Err(error),
    };
    let core = core_key(&args.fork_id());
    let (before_name, before_key) = args
        .before_step
        .map_or((None, Bytes::new()), |point| (Some(point.name.to_string()), point.key.to_string().into()));
    let fork = ForkExecution {
        core,
        source: args.execution_id.uuid().to_string(),
        digest: digest(&payload)?,
        content_type: unless_json(&payload.content_type),
        payload: payload.bytes,
        before_name,
        before_key,
    };
    let (mut fields, duplicate) = ask_fields(server, fork.call()).await?;
    Ok(ForkedExecution { execution_id: fields.read()?, steps: fields.read()?, duplicate })
}

/// Reads the step counter of a record.
pub(crate) fn counter(core: &Hash) -> Result<Option<StepCounter>, ScriptError> {
    let Some(counted) = core.text("steps")? else { return Ok(None) };
    let unreadable = || ScriptError::parse(format!("the counter of steps {counted:?} cannot be read"));
    let numbers: Vec<u64> = counted.split(' ').map(str::parse).collect::<Result<_, _>>().map_err(|_| unreadable())?;
    let [next, count, undos, bytes] = numbers[..] else { return Err(unreadable()) };
    let small = |number: u64| u32::try_from(number).map_err(|_| unreadable());
    Ok(Some(StepCounter { next: small(next)?, count: small(count)?, undos: small(undos)?, bytes }))
}

/// Reads the origin of a fork from its record.
pub(crate) fn fork_origin(core: &Hash) -> Result<Option<Box<ForkOrigin>>, ScriptError> {
    let Some(origin) = core.text("forked_from")? else { return Ok(None) };
    let parts = origin.split_once(' ').and_then(|(id, steps)| Some((id.parse().ok()?, steps.parse().ok()?)));
    let (execution_id, steps) = parts.ok_or_else(|| ScriptError::parse(format!("a fork of {origin:?}")))?;
    Ok(Some(Box::new(ForkOrigin { execution_id, steps })))
}
