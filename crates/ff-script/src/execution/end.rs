//! Functions that end an execution: its holder completes or fails it, or a caller cancels it.

use bytes::Bytes;
use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{CancelArgs, CancelledExecution, CompleteArgs, CompletedExecution, FailArgs, FailedAttempt};
use ff_core::lease::Fence;
use ff_core::payload::Payload;
use ff_core::types::TimestampMs;

use super::core_key;
use super::create::unless_json;
use crate::server::{ask, ask_each, ask_fields, ask_word};
use crate::signature::{CancelExecution, CompleteExecution, CompleteExecutions, FailExecution};
use crate::{Fields, ScriptError, Server};

/// Ends the running attempt with a result.
pub async fn ff_complete_execution(server: &dyn Server, args: CompleteArgs) -> Result<CompletedExecution, ScriptError> {
    let result_type = args.result.as_ref().and_then(|result| unless_json(&result.content_type));
    let complete = CompleteExecution {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        has_result: args.result.is_some(),
        result: args.result.map(|Payload { bytes, .. }| bytes).unwrap_or_default(),
        result_type,
    };
    Ok(CompletedExecution { public_state: ask_word(server, complete.call()).await? })
}

/// Ends several running attempts of one partition, each with its own answer.
pub async fn ff_complete_executions(
    server: &dyn Server,
    args: Vec<CompleteArgs>,
) -> Result<Vec<Result<CompletedExecution, ScriptError>>, ScriptError> {
    let Some(first) = args.first() else { return Ok(Vec::new()) };
    let core = core_key(&first.execution_id);
    let complete = CompleteExecutions { core, ends: args.into_iter().flat_map(end).collect() };
    ask_each(server, complete.call(), completed).await
}

/// Encodes one end as items of the list.
fn end(args: CompleteArgs) -> [Bytes; 5] {
    let Fence { lease_id, lease_epoch, attempt_id } = args.fence;
    let (result, result_type) = match args.result {
        Some(Payload { bytes, content_type }) => (bytes, unless_json(&content_type).unwrap_or_default().into()),
        None => (Bytes::new(), Bytes::from_static(b"-")),
    };
    [
        args.execution_id.to_string().into(),
        lease_id.to_string().into(),
        format!("{lease_epoch} {attempt_id}").into(),
        result,
        result_type,
    ]
}

fn completed(mut fields: Fields, _: bool) -> Result<CompletedExecution, ScriptError> {
    Ok(CompletedExecution { public_state: fields.read()? })
}

/// Ends the running attempt with a failure: the execution is retried after a backoff, or ends.
pub async fn ff_fail_execution(
    server: &dyn Server,
    args: FailArgs,
    nonce: &Nonce,
) -> Result<FailedAttempt, ScriptError> {
    let fail = FailExecution {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        category: args.failure.category.to_string(),
        message: args.failure.message.into(),
        permanent: args.failure.permanent,
        jitter: nonce.jitter(),
    };
    let mut fields = ask(server, fail.call()).await?;
    let outcome = fields.text()?;
    match (outcome.as_str(), fields.maybe_read()?.map(TimestampMs)) {
        ("retry_scheduled", Some(retry_at)) => Ok(FailedAttempt::RetryScheduled { retry_at }),
        ("failed", None) => Ok(FailedAttempt::Failed),
        _ => Err(ScriptError::parse(format!("nothing follows a failure that is called {outcome}"))),
    }
}

/// Ends a live execution as cancelled.
pub async fn ff_cancel_execution(server: &dyn Server, args: CancelArgs) -> Result<CancelledExecution, ScriptError> {
    let cancel =
        CancelExecution { core: core_key(&args.execution_id), reason: args.reason, requested_by: args.requested_by };
    let (mut fields, already) = ask_fields(server, cancel.call()).await?;
    Ok(CancelledExecution { public_state: fields.read()?, already })
}
