//! Waits of a handler. A wait returns its recorded end, or suspends the execution, which ends the run of the handler.

use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::contracts::{
    CreateWaitpointArgs, GrantedWaitpoint, SuspendArgs, SuspendOutcome, SuspendedExecution, Timeout, WaitpointBinding,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use ff_core::step::StepRef;
use ff_core::suspension::SuspendedBy;
use ff_core::types::{ExecutionId, SignalId, WaitpointKey};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;

use super::WaitError;
use super::plan::{Plan, WaitOutcome, millis};
use super::wait_log::{Continuation, WaitEnd};
use crate::worker::backoff::Backoff;
use crate::{Context, Error, SignalMessage, Waitpoint};

/// Maximum number of signals read at the same time, if they did not come with the claim.
const READ_AT_ONCE: usize = 16;

/// Waits as planned. Returns the outcome of the wait, which ended in this run or before it.
pub(super) async fn wait(context: &Context, plan: Plan) -> Result<WaitOutcome, WaitError> {
    let waits = context.waits();
    let step = match &plan.step {
        Some(step) => step.clone(),
        None => waits.next(plan.name.as_str())?,
    };
    waits.uses(&plan.keys);
    if let Some(end) = waits.ended(context, &step, plan.may_time_out).await? {
        return recall(context, end).await;
    }
    context.steps().begin_new().await;
    // One wait at a time: a second one would be refused because the lease is given up, or would get the answer to the
    // first one.
    let _turn = context.hold().turn.lock().await;
    let (keys, note) = (plan.keys.clone(), plan.note.clone());
    let continuation = Continuation::wait(&step, &keys, note.clone());
    match suspend(context, plan, &continuation).await?.outcome {
        SuspendOutcome::AlreadySatisfied { signals } => {
            let end = WaitEnd { note, ..WaitEnd::at_once(context, &step, &keys, signals) };
            recall(context, waits.record(context, &step, &end, true).await?).await
        }
        SuspendOutcome::Suspended => Err(until_dropped(context).await),
    }
}

/// Returns the outcome of the wait that an earlier run began under this step, with that run's note; `None` without such
/// a wait.
pub(super) async fn answer_to(
    context: &Context,
    step: &StepRef,
) -> Result<Option<(WaitOutcome, Option<Value>)>, WaitError> {
    let Some(end) = context.waits().ended(context, step, false).await? else { return Ok(None) };
    let note = end.note.clone();
    Ok(Some((recall(context, end).await?, note)))
}

/// Suspends the execution of a call until the next check for the end of the callee. Returns only errors: an error of the
/// suspension, or [`WaitError::Suspended`] in a task that outlives the handler.
pub(in crate::worker) async fn suspend_until_check(
    context: &Context,
    call: &StepRef,
    looks: u32,
    span: Duration,
) -> WaitError {
    let _turn = context.hold().turn.lock().await;
    let pause = async {
        let plan = Plan::timer(call.name.as_str(), span)?;
        suspend(context, plan, &Continuation::call(call, looks)).await
    };
    match pause.await {
        Ok(_) => until_dropped(context).await,
        Err(error) => error,
    }
}

/// Waits until the worker has dropped the handler, and with it this call. Only a task that outlives the handler gets the
/// returned error.
async fn until_dropped(context: &Context) -> WaitError {
    context.hold().dropped.cancelled().await;
    WaitError::Suspended
}

/// Suspends the execution as planned.
async fn suspend(context: &Context, plan: Plan, continuation: &Continuation) -> Result<SuspendedExecution, WaitError> {
    // The next suspension replaces the end of the last wait, so record that end first.
    context.waits().record_last(context).await?;
    if let Some(question) = &plan.question {
        context.progress(None, Some(question)).await?;
    }
    let note = serde_json::to_string(continuation).map_err(Error::Encode)?;
    let mut args = arguments(context, &plan, note);
    if let Some(announce) = plan.announce {
        let granted = make_ahead(context, &mut args).await?;
        let execution = context.task().execution_id;
        let waitpoints = granted.into_iter().map(|granted| Waitpoint::new(execution, granted)).collect();
        announce(waitpoints).await.map_err(WaitError::Announce)?;
    }
    release_lease(context, args).await
}

fn arguments(context: &Context, plan: &Plan, note: String) -> SuspendArgs {
    let task = context.task();
    let bind = |key: &WaitpointKey| match context.waits().take_ahead(key) {
        Some(granted) => WaitpointBinding::Pending { id: granted.waitpoint_id, key: granted.waitpoint_key },
        None => WaitpointBinding::Fresh { key: key.clone() },
    };
    SuspendArgs {
        execution_id: task.execution_id,
        fence: task.fence,
        waitpoints: plan.keys.iter().map(bind).collect(),
        condition: plan.condition.clone(),
        reason: plan.reason.clone(),
        requested_by: SuspendedBy::Worker,
        timeout: plan.timeout.map(|timeout| Timeout::After(millis(timeout))),
        timeout_behavior: plan.timeout_behavior,
        resume_policy: plan.resume_policy.clone(),
        continuation: Some(note),
        idempotency_key: None,
        dedup_ttl_ms: limits::SUSPEND_DEDUP_MS,
    }
}

/// Creates all waitpoints of a suspension in advance, and binds the suspension to them.
async fn make_ahead(context: &Context, args: &mut SuspendArgs) -> Result<Vec<GrantedWaitpoint>, Error> {
    let mut granted = Vec::with_capacity(args.waitpoints.len());
    for binding in &mut args.waitpoints {
        // A waitpoint that already exists is returned again, with its token.
        let made = make(context, binding.key().clone(), limits::PENDING_WAITPOINT_MS).await?;
        *binding = WaitpointBinding::Pending { id: made.waitpoint_id, key: made.waitpoint_key.clone() };
        granted.push(made);
    }
    Ok(granted)
}

/// Suspends the execution. This is a separate task, which finishes even if the handler drops the wait: the handler must
/// not continue without its lease.
async fn release_lease(context: &Context, args: SuspendArgs) -> Result<SuspendedExecution, WaitError> {
    let own = context.clone();
    let suspending = tokio::spawn(async move { ask(&own, args).await });
    suspending.await.unwrap_or(Err(WaitError::Suspended))
}

/// Requests the suspension.
async fn ask(context: &Context, mut args: SuspendArgs) -> Result<SuspendedExecution, WaitError> {
    loop {
        let suspend = || context.backend().suspend(args.clone());
        let waits = |suspended: &SuspendedExecution| suspended.outcome == SuspendOutcome::Suspended;
        match give_up_lease(context, "suspend", suspend, waits).await {
            // An earlier run created a waitpoint in advance, and this run did not.
            Err(EngineError::Refused(refusal)) if refusal.code == Code::WaitpointAlreadyExists => {
                make_ahead(context, &mut args).await?;
            }
            answer => return Ok(answer?),
        }
    }
}

/// Makes a call that gives up the lease if its answer `waits`. Repeats the call while the store does not answer and the
/// lease may still be held.
pub(in crate::worker) async fn give_up_lease<T, F: Future<Output = Answer<T>>>(
    context: &Context,
    what: &'static str,
    mut call: impl FnMut() -> F,
    waits: impl Fn(&T) -> bool,
) -> Answer<T> {
    context.output().flush().await?;
    // The steps that are being recorded need the lease, so wait for them first.
    let _recorded = context.hold().recording.write().await;
    let give_up = Instant::now() + Duration::from_millis(context.task().lease_ttl_ms);
    let mut backoff = Backoff::default();
    loop {
        // A renewal at the same time would be refused as if the lease were lost.
        let quiet = context.hold().lease.clone().lock_owned().await;
        match call().await {
            Ok(answer) => {
                if waits(&answer) {
                    context.hold().suspended.cancel();
                }
                return Ok(answer);
            }
            Err(error) if matches!(error, EngineError::Refused(_)) || Instant::now() >= give_up => return Err(error),
            Err(error) => {
                context.outages().log_failure(what, &error);
                drop(quiet);
                backoff.pause().await;
            }
        }
    }
}

/// Returns the outcome of a finished wait, with its signals.
async fn recall(context: &Context, end: WaitEnd) -> Result<WaitOutcome, WaitError> {
    let WaitEnd { by, execution_id, signals, .. } = end;
    let signals = stream::iter(signals).map(|id| read(context, &execution_id, id)).buffered(READ_AT_ONCE);
    Ok(WaitOutcome { by, signals: signals.try_collect().await? })
}

/// Returns a signal from the claim or, if the claim does not have all of it, from the store.
async fn read(context: &Context, execution: &ExecutionId, id: SignalId) -> Result<SignalMessage, Error> {
    match context.waits().signal(&id) {
        Some(received) => Ok(SignalMessage(received)),
        None => Ok(SignalMessage(context.backend().signal(execution, &id).await?)),
    }
}

/// Creates a waitpoint, or returns the existing one of this key that no wait has used.
pub(super) async fn make(context: &Context, key: WaitpointKey, expires_in_ms: u64) -> Result<GrantedWaitpoint, Error> {
    let task = context.task();
    let args = CreateWaitpointArgs { execution_id: task.execution_id, fence: task.fence, key, expires_in_ms };
    Ok(context.backend().create_waitpoint(args).await?)
}
