//! The holder says how far it is.

use ff_core::contracts::{Noted, ProgressArgs};
use ff_core::types::TimestampMs;

use super::core_key;
use crate::server::ask;
use crate::signature::UpdateProgress;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Notes how far the holder is.
pub async fn ff_update_progress(server: &dyn Server, args: ProgressArgs) -> Result<Noted, ScriptError> {
    let progress = UpdateProgress {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        percent: args.percent.map(u64::from),
        message: args.message,
    };
    ask(server, progress.call()).await
}

impl FromFcallResult for Noted {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { at: TimestampMs(fields.read()?) })
    }
}
