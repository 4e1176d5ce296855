//! An operator ends a suspension.

use ff_core::contracts::{ResumeArgs, Resumed};
use ff_core::dice::Nonce;
use ff_core::types::SignalId;

use super::ResumeOpKeys;
use super::keys::or_noop;
use crate::execution::unless_json;
use crate::server::ask;
use crate::signature::ResumeExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// An operator's decision, with the id of the signal that tells of it.
#[derive(Clone, Debug)]
pub struct ResumeExecutionArgs {
    pub asked: ResumeArgs,
    pub signal_id: SignalId,
}

impl ResumeExecutionArgs {
    pub fn new(asked: ResumeArgs, nonce: &Nonce) -> Self {
        Self { asked, signal_id: nonce.signal() }
    }
}

/// The suspension is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeExecutionResult {
    Resumed(Resumed),
}

/// Ends a suspension, whatever its condition.
pub async fn ff_resume_execution(
    server: &dyn Server,
    keys: &ResumeOpKeys,
    args: &ResumeExecutionArgs,
) -> Result<ResumeExecutionResult, ScriptError> {
    let (exec, index, asked) = (&keys.exec, &keys.index, &args.asked);
    let lane = |key: fn(&_, &_) -> String| or_noop(exec, keys.lane_id.as_ref(), |lane| key(index, lane));
    let payload = asked.payload.as_ref();
    let resume = ResumeExecution {
        exec_core: exec.core(),
        suspension_current: exec.suspension_current(),
        waitpoint: or_noop(exec, keys.waitpoint_id.as_ref(), |id| exec.waitpoint(id)),
        waitpoint_signals: or_noop(exec, keys.waitpoint_id.as_ref(), |id| exec.waitpoint_signals(id)),
        suspension_timeout: index.suspension_timeout(),
        lane_eligible: lane(|index, lane| index.lane_eligible(lane)),
        lane_delayed: lane(|index, lane| index.lane_delayed(lane)),
        lane_suspended: lane(|index, lane| index.lane_suspended(lane)),
        execution_id: asked.execution_id.to_string(),
        trigger_type: asked.decision.to_string(),
        resume_delay_ms: asked.resume_delay_ms,
        suspension_id: asked.suspension_id.map(|id| id.to_string()),
        signal_id: Some(args.signal_id.to_string()),
        content_type: payload.and_then(|payload| unless_json(&payload.content_type)),
        payload: payload.map(|payload| payload.bytes.clone()).unwrap_or_default(),
        requested_by: asked.requested_by.as_ref().map(ToString::to_string),
        reason: asked.reason.clone(),
    };
    ask(server, resume.call()).await
}

impl FromFcallResult for ResumeExecutionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (public_state, suspension_id) = (fields.read()?, fields.read()?);
        Ok(Self::Resumed(Resumed { suspension_id, public_state, already: !fields.is_empty() }))
    }
}
