//! The holder says the work is done.

use bytes::Bytes;
use ff_core::contracts::{CompleteArgs, Completed};
use ff_core::payload::Payload;

use super::core_key;
use super::create::unless_json;
use crate::server::{ask, ask_each};
use crate::signature::{CompleteExecution, CompleteExecutions};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Ends the running attempt with a result.
pub async fn ff_complete_execution(server: &dyn Server, args: CompleteArgs) -> Result<Completed, ScriptError> {
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
    ask(server, complete.call()).await
}

/// Ends several running attempts of one partition, each with its own answer.
pub async fn ff_complete_executions(
    server: &dyn Server,
    args: Vec<CompleteArgs>,
) -> Result<Vec<Result<Completed, ScriptError>>, ScriptError> {
    let Some(first) = args.first() else { return Ok(Vec::new()) };
    let core = core_key(&first.execution_id);
    let complete = CompleteExecutions { core, ends: args.into_iter().flat_map(end).collect() };
    ask_each(server, complete.call()).await
}

/// One end as the list has it.
fn end(args: CompleteArgs) -> [Bytes; 7] {
    let result_type = args.result.as_ref().and_then(|result| unless_json(&result.content_type));
    [
        args.execution_id.to_string().into(),
        args.fence.lease_id.to_string().into(),
        args.fence.lease_epoch.0.to_string().into(),
        args.fence.attempt_id.to_string().into(),
        Bytes::from_static(if args.result.is_some() { b"1" } else { b"" }),
        args.result.map(|Payload { bytes, .. }| bytes).unwrap_or_default(),
        result_type.unwrap_or_default().into(),
    ]
}

impl FromFcallResult for Completed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { public_state: fields.read()? })
    }
}
