//! A suspension that nothing ended in time.

use ff_core::contracts::{ExpireSuspensionArgs, ExpireSuspensionResult};

use super::ExpireSuspensionOpKeys;
use crate::server::ask;
use crate::signature::ExpireSuspension;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Applies the timeout behaviour of a suspension that is due. The pump fires every suspension by itself; this is the call
/// for one execution.
pub async fn ff_expire_suspension(
    server: &dyn Server,
    keys: &ExpireSuspensionOpKeys<'_>,
    args: &ExpireSuspensionArgs,
) -> Result<ExpireSuspensionResult, ScriptError> {
    let ExpireSuspensionOpKeys { ctx, idx, lane_id, waitpoint_id, attempt_index } = *keys;
    let expire = ExpireSuspension {
        exec_core: ctx.core(),
        suspension_current: ctx.suspension_current(),
        waitpoint: ctx.waitpoint(waitpoint_id),
        waitpoint_condition: ctx.waitpoint_condition(waitpoint_id),
        attempt_hash: ctx.attempt_hash(attempt_index),
        stream_meta: ctx.stream_meta(attempt_index),
        suspension_timeout: idx.suspension_timeout(),
        lane_suspended: idx.lane_suspended(lane_id),
        lane_terminal: idx.lane_terminal(lane_id),
        lane_eligible: idx.lane_eligible(lane_id),
        lane_delayed: idx.lane_delayed(lane_id),
        lease_history: ctx.lease_history(),
        execution_id: args.execution_id.to_string(),
    };
    ask(server, expire.call()).await
}

impl FromFcallResult for ExpireSuspensionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let word = fields.text()?;
        if fields.is_empty() {
            return Ok(Self::AlreadySatisfied { reason: word });
        }
        let unknown = |error| ScriptError::parse(format!("no suspension ends as {word}: {error}"));
        Ok(Self::Expired { behavior_applied: word.parse().map_err(unknown)? })
    }
}
