//! Recording a step, under the fence of the run that did it.

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

/// Records how a step ended, and returns the record: an earlier run may have recorded it before.
///
/// It goes on when the handler drops it: something that was done is not forgotten because the handler no longer waits for it.
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
        // Steps are numbered in their order.
        own.waits().recorded().await?;
        write(&own, step, started_at, outcome).await
    };
    let recording = tokio::spawn(recording.in_current_span());
    recording.await.unwrap_or_else(|error| Err(Fault::retryable("panic", error.to_string())))
}

/// Writes a step.
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
            tracing::warn!(step = %args.step.name, %error, "a step could not be recorded; the run is over");
            context.hold().lost.cancel();
            Err(no_longer_held())
        }
    }
}

/// Asks the store again while it does not answer and the work may still be ours.
pub(in crate::worker) async fn repeat<T, F: Future<Output = Answer<T>>>(
    context: &Context,
    what: &'static str,
    mut call: impl FnMut() -> F,
) -> Answer<T> {
    let mut backoff = Backoff::default();
    loop {
        match call().await {
            Err(error @ (EngineError::Unknown(_) | EngineError::Unavailable(_))) => {
                context.outages().noted(what, &error);
                tokio::select! {
                    () = context.hold().lost.cancelled() => return Err(error),
                    () = backoff.pause() => {}
                }
            }
            answer => return answer,
        }
    }
}

/// Refuses to do anything in the name of work that is no longer ours.
pub(super) fn check_held(context: &Context) -> Result<(), Fault> {
    let hold = context.hold();
    if hold.lost.is_cancelled() || hold.suspended.is_cancelled() { Err(no_longer_held()) } else { Ok(()) }
}

fn no_longer_held() -> Fault {
    Fault::retryable("lease_lost", "the work is no longer this run's; what it does now would not be recorded")
}
