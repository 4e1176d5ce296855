//! An operator ends a suspension.

use bytes::Bytes;
use ff_core::contracts::{ResumeArgs, ResumeExecutionArgs, ResumeExecutionResult, Resumed};
use ff_core::dice::Nonce;
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::types::ExecutionId;

use super::ResumeOpKeys;
use super::keys::contexts;
use crate::execution::unless_json;
use crate::server::ask;
use crate::signature::ResumeExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Ends a suspension, whatever its condition.
pub async fn ff_resume_execution(
    server: &dyn Server,
    keys: &ResumeOpKeys<'_>,
    args: &ResumeExecutionArgs,
) -> Result<ResumeExecutionResult, ScriptError> {
    let ResumeOpKeys { ctx, idx, lane_id, waitpoint_id } = *keys;
    let resume = ResumeExecution {
        waitpoint: ctx.waitpoint(waitpoint_id),
        waitpoint_signals: ctx.waitpoint_signals(waitpoint_id),
        lane_eligible: idx.lane_eligible(lane_id),
        lane_delayed: idx.lane_delayed(lane_id),
        lane_suspended: idx.lane_suspended(lane_id),
        resume_delay_ms: Some(args.resume_delay_ms),
        ..call(ctx, idx, &args.execution_id, args.trigger_type.clone())
    };
    let Resumed { public_state, .. } = ask(server, resume.call()).await?;
    Ok(ResumeExecutionResult::Resumed { public_state })
}

/// Ends a suspension by an operator's decision, which is recorded as a signal.
pub async fn resume_by_operator(
    server: &dyn Server,
    asked: &ResumeArgs,
    nonce: &Nonce,
) -> Result<Resumed, ScriptError> {
    let (ctx, idx) = contexts(&asked.execution_id);
    let payload = asked.payload.as_ref();
    let resume = ResumeExecution {
        resume_delay_ms: asked.resume_delay_ms,
        suspension_id: asked.suspension_id.map(|id| id.to_string()),
        signal_id: Some(nonce.signal().to_string()),
        content_type: payload.and_then(|payload| unless_json(&payload.content_type)),
        payload: payload.map(|payload| payload.bytes.clone()).unwrap_or_default(),
        requested_by: asked.requested_by.as_ref().map(ToString::to_string),
        reason: asked.reason.clone(),
        ..call(&ctx, &idx, &asked.execution_id, asked.decision.to_string())
    };
    ask(server, resume.call()).await
}

/// The call with a placeholder for the keys of lane and waitpoint, which the function finds in the record.
fn call(ctx: &ExecKeyContext, idx: &IndexKeys, execution_id: &ExecutionId, trigger_type: String) -> ResumeExecution {
    ResumeExecution {
        exec_core: ctx.core(),
        suspension_current: ctx.suspension_current(),
        waitpoint: ctx.noop(),
        waitpoint_signals: ctx.noop(),
        suspension_timeout: idx.suspension_timeout(),
        lane_eligible: ctx.noop(),
        lane_delayed: ctx.noop(),
        lane_suspended: ctx.noop(),
        execution_id: execution_id.to_string(),
        trigger_type,
        resume_delay_ms: None,
        suspension_id: None,
        signal_id: None,
        content_type: None,
        payload: Bytes::new(),
        requested_by: None,
        reason: None,
    }
}

impl FromFcallResult for Resumed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (public_state, suspension_id) = (fields.read()?, fields.read()?);
        Ok(Self { suspension_id, public_state, already: !fields.is_empty() })
    }
}
