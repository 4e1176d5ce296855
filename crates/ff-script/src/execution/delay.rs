//! The holder puts the work off.

use ff_core::contracts::{DelayArgs, Delayed};
use ff_core::types::TimestampMs;

use super::{core_key, start};
use crate::server::ask;
use crate::signature::DelayExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Gives the lease back until a moment; the same attempt goes on then.
pub async fn ff_delay_execution(server: &dyn Server, args: DelayArgs) -> Result<Delayed, ScriptError> {
    let (start_in_ms, start_at) = start(args.start);
    let delay = DelayExecution {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        start_in_ms,
        start_at,
    };
    ask(server, delay.call()).await
}

impl FromFcallResult for Delayed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { until: TimestampMs(fields.read()?) })
    }
}
