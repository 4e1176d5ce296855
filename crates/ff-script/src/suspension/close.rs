//! Closing a waitpoint that is not going to be used.

use ff_core::contracts::{CloseWaitpointArgs, CloseWaitpointResult, ClosedWaitpoint};

use super::WaitpointOpKeys;
use super::keys::contexts;
use crate::server::ask;
use crate::signature::CloseWaitpoint;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Closes a waitpoint that no suspension has used.
pub async fn ff_close_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys<'_>,
    args: &CloseWaitpointArgs,
) -> Result<CloseWaitpointResult, ScriptError> {
    let ClosedWaitpoint { .. } = ask(server, call(keys, args).call()).await?;
    Ok(CloseWaitpointResult::Closed)
}

/// The same, and whether the waitpoint was closed before.
pub async fn close_waitpoint(server: &dyn Server, args: &CloseWaitpointArgs) -> Result<ClosedWaitpoint, ScriptError> {
    let (ctx, idx) = contexts(&args.execution_id);
    ask(server, call(&WaitpointOpKeys { ctx: &ctx, idx: &idx }, args).call()).await
}

fn call(WaitpointOpKeys { ctx, idx }: &WaitpointOpKeys<'_>, args: &CloseWaitpointArgs) -> CloseWaitpoint {
    CloseWaitpoint {
        exec_core: ctx.core(),
        waitpoint: ctx.waitpoint(&args.waitpoint_id),
        pending_waitpoint_expiry: idx.pending_waitpoint_expiry(),
        waitpoint_id: args.waitpoint_id.to_string(),
        has_reason: args.reason.is_some(),
        reason: args.reason.clone().unwrap_or_default().into(),
    }
}

impl FromFcallResult for ClosedWaitpoint {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (fields, _) = result.into_fields();
        Ok(Self { already: !fields.is_empty() })
    }
}
