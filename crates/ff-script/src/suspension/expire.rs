//! A suspension that nothing ended in time.

use ff_core::suspension::TimeoutBehavior;
use ff_core::types::ExecutionId;

use super::ExpireSuspensionOpKeys;
use super::keys::or_noop;
use crate::server::ask;
use crate::signature::ExpireSuspension;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Whose suspension may have lasted too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpireSuspensionArgs {
    pub execution_id: ExecutionId,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpireSuspensionResult {
    /// Its holder had asked for this.
    Expired { behavior_applied: TimeoutBehavior },
    /// There was nothing to do, and this is why.
    AlreadySatisfied { reason: String },
}

/// Does what the holder of an execution asked for in case nothing ends its suspension in time, if that time has come. A
/// pump fires everything; this is for whoever knows what to fire.
pub async fn ff_expire_suspension(
    server: &dyn Server,
    keys: &ExpireSuspensionOpKeys,
    args: &ExpireSuspensionArgs,
) -> Result<ExpireSuspensionResult, ScriptError> {
    let (exec, index) = (&keys.exec, &keys.index);
    let lane = |key: fn(&_, &_) -> String| or_noop(exec, keys.lane_id.as_ref(), |lane| key(index, lane));
    let expire = ExpireSuspension {
        exec_core: exec.core(),
        suspension_current: exec.suspension_current(),
        waitpoint: or_noop(exec, keys.waitpoint_id.as_ref(), |id| exec.waitpoint(id)),
        waitpoint_condition: or_noop(exec, keys.waitpoint_id.as_ref(), |id| exec.waitpoint_condition(id)),
        attempt_hash: or_noop(exec, keys.attempt_index.as_ref(), |nth| exec.attempt_hash(*nth)),
        stream_meta: or_noop(exec, keys.attempt_index.as_ref(), |nth| exec.stream_meta(*nth)),
        suspension_timeout: index.suspension_timeout(),
        lane_suspended: lane(|index, lane| index.lane_suspended(lane)),
        lane_terminal: lane(|index, lane| index.lane_terminal(lane)),
        lane_eligible: lane(|index, lane| index.lane_eligible(lane)),
        lane_delayed: lane(|index, lane| index.lane_delayed(lane)),
        lease_history: exec.lease_history(),
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
