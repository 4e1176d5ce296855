//! Recording a step, under the fence of the run that executed it.

use ff_core::backend::Answer;
use ff_core::contracts::RecordStepArgs;
use ff_core::engine_error::{Code, EngineError};
use ff_core::step::{StepOutcome, StepRef};
use ff_core::types::TimestampMs;
use tracing::Instrument;

use super::invalid;
use super::log::RecordedStep;
use crate::worker::backoff::Backoff;
use crate::{Context, Fault};

/// Records the end of a step, and returns the record. If an earlier run has already recorded the step, returns that
/// record.
///
/// The recording continues if the handler drops this call: a finished action must be recorded even if the handler no
/// longer waits for it.
pub(in crate::worker) async fn record(
    context: &Context,
    step: StepRef,
    started_at: Option<TimestampMs>,
    outcome: StepOutcome,
) -> Result<RecordedStep, Fault> {
    let own = context.clone();
    let recording = async move {
        // The lease is not given up before the step is recorded.
        let _kept = own.hold().recording.read().await;
        check_held(&own)?;
        // A wait that is being recorded comes first, so that steps are numbered in their order.
        own.waits().recorded().await?;
        write(&own, step, started_at, outcome).await
    };
    let recording = tokio::spawn(recording.in_current_span());
    recording.await.unwrap_or_else(|error| Err(Fault::retryable("panic", error.to_string())))
}

/// Writes a step to the store. If the step exceeds a limit, it fails. After any other error the run is over.
pub(in crate::worker) async fn write(
    context: &Context,
    step: StepRef,
    started_at: Option<TimestampMs>,
    outcome: StepOutcome,
) -> Result<RecordedStep, Fault> {
    let task = context.task();
    let args = RecordStepArgs { execution_id: task.execution_id, fence: task.fence, step, started_at, outcome };
    match repeat(context, "record_step", || context.backend().record_step(args.clone())).await {
        Ok(recorded) => {
            let outcome = recorded.step.map_or(args.outcome, |earlier| earlier.outcome);
            let recorded = RecordedStep { seq: recorded.seq, outcome };
            context.steps().insert(args.step, recorded.clone());
            Ok(recorded)
        }
        Err(EngineError::Refused(refusal)) if matches!(refusal.code, Code::LimitExceeded | Code::PayloadTooLarge) => {
            Err(invalid(&args.step, refusal))
        }
        Err(error) => {
            tracing::warn!(step = %args.step.name, %error, "a step could not be recorded; the attempt is over");
            context.hold().lost.cancel();
            Err(no_longer_held())
        }
    }
}

/// Makes a call to the store. Repeats it while the store does not answer and the lease may still be held.
pub(in crate::worker) async fn repeat<T, F: Future<Output = Answer<T>>>(
    context: &Context,
    what: &'static str,
    mut call: impl FnMut() -> F,
) -> Answer<T> {
    let mut backoff = Backoff::default();
    loop {
        match call().await {
            Err(error @ (EngineError::Unknown(_) | EngineError::Unavailable(_))) => {
                context.outages().log_failure(what, &error);
                tokio::select! {
                    () = context.hold().lost.cancelled() => return Err(error),
                    () = backoff.pause() => {}
                }
            }
            answer => return answer,
        }
    }
}

/// Refuses an action when the run has lost or given up its lease.
pub(super) fn check_held(context: &Context) -> Result<(), Fault> {
    let hold = context.hold();
    if hold.lost.is_cancelled() || hold.suspended.is_cancelled() { Err(no_longer_held()) } else { Ok(()) }
}

fn no_longer_held() -> Fault {
    Fault::retryable("lease_lost", "the work is no longer this run's; what it does now would not be recorded")
}
