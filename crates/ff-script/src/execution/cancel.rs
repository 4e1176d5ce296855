//! Someone wants work stopped.

use ff_core::contracts::{CancelArgs, Cancelled};

use super::core_key;
use crate::server::ask;
use crate::signature::CancelExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Ends a live execution as cancelled.
pub async fn ff_cancel_execution(server: &dyn Server, args: CancelArgs) -> Result<Cancelled, ScriptError> {
    let cancel =
        CancelExecution { core: core_key(&args.execution_id), reason: args.reason, requested_by: args.requested_by };
    ask(server, cancel.call()).await
}

impl FromFcallResult for Cancelled {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { public_state: fields.read()?, already })
    }
}
