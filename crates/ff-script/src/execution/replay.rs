//! Someone wants finished work run again.

use ff_core::contracts::{ReplayArgs, Replayed};

use super::core_key;
use crate::server::ask;
use crate::signature::ReplayExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Starts a finished execution afresh.
pub async fn ff_replay_execution(server: &dyn Server, args: ReplayArgs) -> Result<Replayed, ScriptError> {
    let replay = ReplayExecution {
        core: core_key(&args.execution_id),
        reason: args.reason,
        requested_by: args.requested_by,
        reopen_downstream: args.reopen_downstream,
    };
    ask(server, replay.call()).await
}

impl FromFcallResult for Replayed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { public_state: fields.read()?, replays: fields.read()? })
    }
}
