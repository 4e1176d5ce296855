//! Undoing: when an execution has failed permanently, its steps are undone in reverse order.

use ff_core::execution::Failure;
use ff_core::payload::Payload;
use ff_core::policy::Backoff;
use ff_core::step::StepOutcome;

use super::log::{Compensation, RecordedStep};
use super::record::check_held;
use super::run::{attempt, decode, failed, pause};
use super::{failed_marker, record, repeat};
use crate::worker::handler::failure;
use crate::{Context, Fault, Reply};

/// Maximum number of retries of a compensation.
const RETRIES: u32 = 5;

/// A guard that drops the compensations of a run when the run is over, however it ends. Compensations may hold the
/// context, and the context holds them, so they would otherwise never be freed.
pub(in crate::worker) struct DropCompensations<'c>(pub(in crate::worker) &'c Context);

impl Drop for DropCompensations<'_> {
    fn drop(&mut self) {
        self.0.steps().take_compensations();
    }
}

/// Returns the end of a handler to report. If the execution has failed permanently, the steps with a compensation are
/// undone first.
pub(in crate::worker) async fn settle(context: &Context, end: Result<Reply, Fault>) -> Result<Reply, Fault> {
    let log = context.steps();
    let fault = match (log.failed(), end) {
        (Some(step), _) => read_failure(step),
        (None, Err(fault)) if log.has_compensations() && is_final(context, &fault).await? => {
            note_failure(context, &fault).await?;
            fault
        }
        (None, end) => return end,
    };
    for compensation in log.take_compensations() {
        compensate(context, compensation).await?;
    }
    // An execution that was undone is not retried.
    Err(Fault { permanent: true, ..fault })
}

/// Returns true when a fault ends the execution: the fault is permanent, or the retry policy allows no retry after it.
async fn is_final(context: &Context, fault: &Fault) -> Result<bool, Fault> {
    check_held(context)?;
    let policy = &context.task().policy.retry_policy;
    let failure = failure(fault);
    if !policy.allows(&failure, 0) {
        return Ok(true);
    }
    let id = context.task().execution_id;
    let info = repeat(context, "describe", || context.backend().describe(&id)).await?;
    Ok(!policy.allows(&failure, info.retries))
}

/// Records the failure, so that a later run continues the undoing.
async fn note_failure(context: &Context, fault: &Fault) -> Result<(), Fault> {
    let text = serde_json::to_vec(&failure(fault))?;
    record(context, failed_marker(), None, StepOutcome::Succeeded { result: Payload::json(text) }).await?;
    Ok(())
}

/// Returns the failure that an earlier run has recorded.
fn read_failure(step: RecordedStep) -> Fault {
    let read = step.result().and_then(|text| decode::<Failure>(&failed_marker(), &text));
    read.map_or_else(|fault| fault, |failure| Fault::permanent(failure.category.as_str(), failure.message))
}

/// Runs one compensation and records its outcome. If the compensation fails, the others still run.
async fn compensate(context: &Context, compensation: Compensation) -> Result<(), Fault> {
    let Compensation { step, result, undo, .. } = compensation;
    if context.steps().find(&step).is_some() {
        return Ok(());
    }
    let mut retried = 0;
    let outcome = loop {
        check_held(context)?;
        match attempt(&mut || undo(&result)).await {
            Ok(()) => break StepOutcome::Succeeded { result: Payload::json("null") },
            Err(fault) if fault.permanent || retried >= RETRIES => {
                tracing::error!(step = %step.name, key = %step.key, error = %fault.message, "a step could not be undone");
                break failed(&fault);
            }
            Err(_) => pause(context, &Backoff::default(), retried).await?,
        }
        retried += 1;
    };
    if let Err(fault) = record(context, step, None, outcome).await {
        check_held(context)?;
        tracing::error!(error = %fault.message, "a compensation could not be recorded");
    }
    Ok(())
}
