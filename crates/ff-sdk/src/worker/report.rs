//! Reporting the end of an attempt. A report can safely be repeated, so a report without an answer is sent again.

use std::time::Duration;

use ff_core::backend::EngineBackend;
use ff_core::contracts::{CompleteArgs, DelayArgs, FailArgs, Start, Task};
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::handler::failure;
use super::setup::Setup;
use super::{Fault, Reply};

/// Reports the end of an attempt. Repeats the report while the engine does not answer and the lease may still be held.
pub(super) async fn report(setup: &Setup, task: &Task, end: Result<Reply, Fault>) {
    let give_up = Instant::now() + Duration::from_millis(task.lease_ttl_ms);
    let mut backoff = Backoff::default();
    let mut end = end;
    loop {
        match say(&*setup.backend, task, &end).await {
            Ok(()) => return,
            Err(EngineError::Refused(refusal)) if refusal.code == Code::PayloadTooLarge => {
                // The same report would be refused again. A failure shows the submitter why there is no result.
                end = Err(Fault::permanent("invalid_result", refusal.to_string()));
            }
            Err(EngineError::Refused(refusal)) => {
                tracing::warn!(execution = %task.execution_id, %refusal, "the end of the execution was refused");
                return;
            }
            Err(error) if Instant::now() < give_up => {
                setup.outages.log_failure("report", &error);
                backoff.pause().await;
            }
            Err(error) => {
                tracing::error!(execution = %task.execution_id, %error, "giving up; the execution will run again");
                return;
            }
        }
    }
}

async fn say(backend: &dyn EngineBackend, task: &Task, end: &Result<Reply, Fault>) -> Result<(), EngineError> {
    let (execution_id, fence) = (task.execution_id, task.fence);
    match end {
        Ok(Reply::Done(result)) => {
            backend.complete(CompleteArgs { execution_id, fence, result: result.clone() }).await?;
        }
        Ok(Reply::Later(delay)) => {
            let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX).min(limits::SPAN_MAX_MS);
            backend.delay(DelayArgs { execution_id, fence, start: Start::After(ms) }).await?;
        }
        Err(fault) => {
            backend.fail(FailArgs { execution_id, fence, failure: failure(fault) }).await?;
        }
    }
    Ok(())
}
