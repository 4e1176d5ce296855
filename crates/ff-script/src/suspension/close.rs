//! Closing a waitpoint that is not going to be used.

use ff_core::contracts::{CloseWaitpointArgs, ClosedWaitpoint};

use super::WaitpointOpKeys;
use crate::server::ask;
use crate::signature::CloseWaitpoint;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// The waitpoint takes no more signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseWaitpointResult {
    Closed(ClosedWaitpoint),
}

/// Closes a waitpoint no suspension has used.
pub async fn ff_close_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys,
    args: &CloseWaitpointArgs,
) -> Result<CloseWaitpointResult, ScriptError> {
    let close = CloseWaitpoint {
        exec_core: keys.exec.core(),
        waitpoint: keys.exec.waitpoint(&args.waitpoint_id),
        pending_waitpoint_expiry: keys.index.pending_waitpoint_expiry(),
        waitpoint_id: args.waitpoint_id.to_string(),
        has_reason: args.reason.is_some(),
        reason: args.reason.clone().unwrap_or_default().into(),
    };
    ask(server, close.call()).await
}

impl FromFcallResult for CloseWaitpointResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (fields, _) = result.into_fields();
        Ok(Self::Closed(ClosedWaitpoint { already: !fields.is_empty() }))
    }
}
