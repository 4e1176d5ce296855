//! The wait itself: it returns the recorded end, or begins, which ends the handler's run.

use std::time::Duration;

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

/// How many signals are read at once when they did not come with the claim.
const READ_AT_ONCE: usize = 16;

/// Waits as planned. Returns how the wait ended, in this run or in an earlier one.
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
    // One wait at a time: a second one would be refused for want of a lease, or take the first one's answer for its own.
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

/// The end of the wait that an earlier run began under this step, with that run's note; `None` when there is none.
pub(super) async fn answer_to(
    context: &Context,
    step: &StepRef,
) -> Result<Option<(WaitOutcome, Option<Value>)>, WaitError> {
    let Some(end) = context.waits().ended(context, step, false).await? else { return Ok(None) };
    let note = end.note.clone();
    Ok(Some((recall(context, end).await?, note)))
}

/// Suspends the execution of a call until it is time to look again for the end of its callee. Returns only errors: of
/// the suspension, or for a task that the handler left behind.
pub(in crate::worker) async fn look_again(context: &Context, call: &StepRef, looks: u32, span: Duration) -> WaitError {
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

/// The worker drops the handler now, and this with it. Only tasks the handler left behind live on from here.
async fn until_dropped(context: &Context) -> WaitError {
    context.hold().dropped.cancelled().await;
    WaitError::Suspended
}

/// Suspends as planned.
async fn suspend(context: &Context, plan: Plan, continuation: &Continuation) -> Result<SuspendedExecution, WaitError> {
    // The last wait is forgotten with the next suspension.
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
    let_go(context, args).await
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

/// Makes every waitpoint of a suspension ahead of it, and binds the suspension to them.
async fn make_ahead(context: &Context, args: &mut SuspendArgs) -> Result<Vec<GrantedWaitpoint>, Error> {
    let mut granted = Vec::with_capacity(args.waitpoints.len());
    for binding in &mut args.waitpoints {
        // One that was made before is answered again, its token included.
        let made = make(context, binding.key().clone(), limits::PENDING_WAITPOINT_MS).await?;
        *binding = WaitpointBinding::Pending { id: made.waitpoint_id, key: made.waitpoint_key.clone() };
        granted.push(made);
    }
    Ok(granted)
}

/// Suspends the execution. A separate task, so that it finishes even if the handler is dropped: a handler that dropped
/// its wait half way must not go on without its lease.
async fn let_go(context: &Context, args: SuspendArgs) -> Result<SuspendedExecution, WaitError> {
    let own = context.clone();
    let suspending = tokio::spawn(async move { ask(&own, args).await });
    suspending.await.unwrap_or(Err(WaitError::Suspended))
}

/// Asks for the suspension; repeated while there is no answer and the lease may still be ours.
async fn ask(context: &Context, mut args: SuspendArgs) -> Result<SuspendedExecution, WaitError> {
    context.output().flush().await?;
    // Steps that are being recorded come first.
    let _recorded = context.hold().recording.write().await;
    let give_up = Instant::now() + Duration::from_millis(context.task().lease_ttl_ms);
    let mut backoff = Backoff::default();
    loop {
        // A renewal that crossed a suspension would be told that the work is no longer ours.
        let quiet = context.hold().lease.clone().lock_owned().await;
        let answer = context.backend().suspend(args.clone()).await;
        match answer {
            Ok(suspended) => {
                if suspended.outcome == SuspendOutcome::Suspended {
                    context.hold().suspended.cancel();
                }
                return Ok(suspended);
            }
            Err(EngineError::Refused(refusal)) if refusal.code == Code::WaitpointAlreadyExists => {
                // An earlier run made it ahead, and this one did not ask for it.
                drop(quiet);
                make_ahead(context, &mut args).await?;
            }
            Err(EngineError::Refused(refusal)) => return Err(EngineError::Refused(refusal).into()),
            Err(error) if Instant::now() >= give_up => return Err(error.into()),
            Err(error) => {
                context.outages().noted("suspend", &error);
                drop(quiet);
                backoff.pause().await;
            }
        }
    }
}

/// Tells a wait that is over, with its signals.
async fn recall(context: &Context, end: WaitEnd) -> Result<WaitOutcome, WaitError> {
    let WaitEnd { by, execution_id, signals, .. } = end;
    let signals = stream::iter(signals).map(|id| read(context, &execution_id, id)).buffered(READ_AT_ONCE);
    Ok(WaitOutcome { by, signals: signals.try_collect().await? })
}

/// A signal as it came with the claim, or as the store has it.
async fn read(context: &Context, execution: &ExecutionId, id: SignalId) -> Result<SignalMessage, Error> {
    match context.waits().handed(&id) {
        Some(received) => Ok(SignalMessage(received)),
        None => Ok(SignalMessage(context.backend().signal(execution, &id).await?)),
    }
}

/// Makes a waitpoint, or finds the one that was made under this key and has not been waited on.
pub(super) async fn make(context: &Context, key: WaitpointKey, expires_in_ms: u64) -> Result<GrantedWaitpoint, Error> {
    let task = context.task();
    let args = CreateWaitpointArgs { execution_id: task.execution_id, fence: task.fence, key, expires_in_ms };
    Ok(context.backend().create_waitpoint(args).await?)
}
