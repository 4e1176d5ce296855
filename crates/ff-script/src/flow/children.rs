//! A holder that waits for the members it added.

use ff_core::contracts::{WaitForChildrenArgs, WaitedForChildren};

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::MoveToWaitingChildren;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Gives the lease back until the holder's join is decided; keeps it when that has happened already.
pub async fn ff_move_to_waiting_children(
    server: &dyn Server,
    args: WaitForChildrenArgs,
) -> Result<WaitedForChildren, ScriptError> {
    let wait = MoveToWaitingChildren {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
    };
    ask(server, wait.call()).await
}

impl FromFcallResult for WaitedForChildren {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { state: fields.read()? })
    }
}
