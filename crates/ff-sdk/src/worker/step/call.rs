//! Calls: submitting another execution, and waiting for its result without occupying a worker.

use std::time::Duration;

use ff_core::contracts::{ExecutionEnd, SubmitArgs};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::step::{StepKind, StepOutcome, StepRef};
use ff_core::types::{ExecutionId, IdempotencyKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::log::RecordedStep;
use super::record::check_held;
use super::run::{decode, failed};
use super::{invalid, record, repeat};
use crate::worker::WaitError;
use crate::worker::suspension::suspend_until_check;
use crate::{Context, End, Error, Fault, Job};

/// Maximum time that the first check waits for the end of the callee, with the lease held.
const FIRST_LOOK_MS: u64 = 2_000;
/// Maximum time between two checks.
const LOOKS_APART: Duration = Duration::from_secs(30);

/// The id of the callee, recorded before the submission, so that a later run finds the same execution.
#[derive(Serialize, Deserialize)]
struct Callee {
    execution_id: ExecutionId,
}

/// The recorded result of a callee that succeeded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallResult {
    Value(Value),
    /// The result is too large to be recorded, and is read from the callee itself.
    ResultOf(ExecutionId),
}

/// Submits a job once, however often the handler runs, and returns its result.
pub(in crate::worker) async fn call(context: &Context, name: &str, job: Job) -> Result<Value, Fault> {
    let log = context.steps();
    let wait = context.waits().next(name)?;
    let step = StepRef { kind: StepKind::Step, ..wait.clone() };
    log.ask(&step)?;
    if let Some(recorded) = log.find(&wait) {
        return read(context, &wait, recorded).await;
    }
    let (callee, is_new) = callee(context, &step, job).await?;
    if is_new {
        submit(context, &step, &callee).await?;
    }
    match end(context, &wait, &callee, is_new).await? {
        Some(end) => {
            let recorded = record(context, wait.clone(), None, outcome(&step, &end)?).await?;
            read(context, &wait, recorded).await
        }
        None => {
            let looks = context.waits().looks(&wait);
            let apart = LOOKS_APART.min(Duration::from_secs(1 << looks.min(10)));
            Err(suspend_until_check(context, &wait, looks + 1, apart).await.into())
        }
    }
}

/// Returns the submission of the callee, and whether this run chose its id. A chosen id is recorded.
async fn callee(context: &Context, step: &StepRef, job: Job) -> Result<(SubmitArgs, bool), Fault> {
    let is_named = job.named().is_some();
    let mut args = job.build().map_err(WaitError::from)?;
    if args.idempotency_key.is_some() {
        return Err(invalid(step, "a job that is called has no idempotency key of its own"));
    }
    if args.key_rule.is_some() {
        return Err(invalid(step, "a job that is called has no singleton or debounce key"));
    }
    let task = context.task();
    if !is_named {
        args.namespace = task.namespace.clone();
    }
    if args.trace.is_none() {
        args.trace = task.trace.clone();
    }
    let recorded = context.steps().find(step);
    let is_new = recorded.is_none();
    if let Some(recorded) = recorded {
        args.uuid = decode::<Callee>(step, &recorded.result()?)?.execution_id.uuid();
    }
    // The key is remembered longer than a callee with a short retention, so the callee is not submitted a second time.
    let key = format!("call/{}/{}", task.execution_id.uuid(), args.uuid);
    args.idempotency_key = Some(IdempotencyKey::parse(&key).map_err(|error| invalid(step, error))?);
    if is_new {
        context.steps().begin_new().await;
        check_held(context)?;
        context.steps().check_count(context, step)?;
        let chosen = Callee { execution_id: place(context, &args) };
        let result = Payload::json(serde_json::to_vec(&chosen)?);
        record(context, step.clone(), None, StepOutcome::Succeeded { result }).await?;
    }
    Ok((args, is_new))
}

fn place(context: &Context, args: &SubmitArgs) -> ExecutionId {
    ExecutionId::place(args.uuid, &args.namespace, args.idempotency_key.as_ref(), &context.backend().partitions())
}

/// Submits the callee. The callee may already exist, or may already have been deleted after its end.
async fn submit(context: &Context, step: &StepRef, callee: &SubmitArgs) -> Result<(), Fault> {
    let submitted = repeat(context, "submit", || context.backend().submit(callee.clone())).await;
    let submitted = submitted.map_err(WaitError::from)?.execution_id;
    let chosen = place(context, callee);
    if submitted == chosen { Ok(()) } else { Err(invalid(step, format!("was to call {chosen}, called {submitted}"))) }
}

/// Returns the end of the callee; `None` while it has not ended. Waits for it if this run submitted the callee.
async fn end(
    context: &Context,
    wait: &StepRef,
    callee: &SubmitArgs,
    is_new: bool,
) -> Result<Option<ExecutionEnd>, Fault> {
    let id = place(context, callee);
    let wait_ms = if is_new { FIRST_LOOK_MS } else { 0 };
    let look = || repeat(context, "ended", || context.long_poll().ended(&id, wait_ms));
    match look().await {
        // An earlier run may have ended after choosing the callee and before submitting it.
        Err(error) if error.code() == Code::ExecutionNotFound => {
            submit(context, wait, callee).await?;
            look().await.map_err(|error| WaitError::from(error).into())
        }
        answer => answer.map_err(|error| WaitError::from(error).into()),
    }
}

/// Converts the end of a callee to the outcome to record.
fn outcome(step: &StepRef, ended: &ExecutionEnd) -> Result<StepOutcome, Fault> {
    let id = ended.execution_id;
    let value = match End(ended.clone()).json::<Value>() {
        Ok(value) => value,
        Err(error @ Error::NotSuccessful(..)) => {
            return Ok(failed(&Fault::permanent(
                "call_failed",
                format!("the execution {id} of {:?}: {error}", step.name),
            )));
        }
        Err(error) => return Ok(failed(&invalid(step, error))),
    };
    let mut text = serde_json::to_vec(&CallResult::Value(value))?;
    if text.len() > limits::STEP_RESULT_BYTES {
        text = serde_json::to_vec(&CallResult::ResultOf(id))?;
    }
    Ok(StepOutcome::Succeeded { result: Payload::json(text) })
}

/// Returns the recorded result of the callee.
async fn read(context: &Context, wait: &StepRef, recorded: RecordedStep) -> Result<Value, Fault> {
    match decode(wait, &recorded.result()?)? {
        CallResult::Value(value) => Ok(value),
        CallResult::ResultOf(id) => {
            let ended = repeat(context, "result", || context.backend().result(&id)).await;
            End(ended.map_err(WaitError::from)?).json().map_err(|error| invalid(wait, error))
        }
    }
}
