//! Functions that suspend an execution, and that end a suspension by an operator's decision.

use bytes::Bytes;
use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{
    GrantedWaitpoint, ResumeArgs, ResumeExecutionArgs, ResumeExecutionResult, ResumedExecution, SuspendArgs,
    SuspendExecutionArgs, SuspendExecutionResult, SuspendOutcome, SuspendedExecution, Timeout, WaitpointBinding,
};
use ff_core::engine_error::Refusal;
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::limits;
use ff_core::token::{KeyRing, WaitpointToken};
use ff_core::types::{AttemptIndex, ExecutionId, SuspensionId, WaitpointId, WaitpointKey};

use super::keys::contexts;
use super::{ResumeOpKeys, SigningRing, SuspendOpKeys};
use crate::execution::{moment, unless_json};
use crate::server::{ask, ask_fields, ask_outcome};
use crate::signature::{ResumeExecution, SuspendExecution};
use crate::{FcallResult, Fields, FromFcallResult, ScriptError, Server};

/// A suspension with its ids and the tokens of its new waitpoints, which are signed before the call.
#[derive(Clone, Debug)]
pub struct SignedSuspension {
    pub args: SuspendArgs,
    pub suspension_id: SuspensionId,
    /// One for each requested waitpoint, in order.
    pub waitpoints: Vec<NamedWaitpoint>,
    /// The mark of the secret that signed the new tokens, if it is known.
    pub secret_mark: Option<String>,
}

/// A waitpoint of a requested suspension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWaitpoint {
    pub id: WaitpointId,
    pub key: WaitpointKey,
    /// None for a pending waitpoint, which has its token already.
    pub token: Option<NewToken>,
}

/// The token of a new waitpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewToken {
    Signed(WaitpointToken),
    /// The caller knows no secret. The function refuses this, after all other refusals.
    Unsigned,
}

impl NewToken {
    /// The text in place of a missing token. It is not a valid token, so it opens nothing.
    const UNSIGNED: &str = "unsigned";

    /// Signs a token with the current secret of a ring.
    pub(super) fn signed(ring: &KeyRing, execution: &ExecutionId, id: &WaitpointId, key: &WaitpointKey) -> Self {
        ring.mint(execution, id, key).map_or(Self::Unsigned, Self::Signed)
    }

    pub(super) fn expose(&self) -> String {
        match self {
            Self::Signed(token) => token.expose(),
            Self::Unsigned => Self::UNSIGNED.into(),
        }
    }
}

impl SignedSuspension {
    /// Assigns ids to the requested waitpoints, and signs the tokens of the new ones.
    pub fn new(args: SuspendArgs, signing: &SigningRing, nonce: &Nonce) -> Self {
        let name = |(nth, binding): (usize, &WaitpointBinding)| match binding {
            WaitpointBinding::Pending { id, key } => NamedWaitpoint { id: *id, key: key.clone(), token: None },
            WaitpointBinding::Fresh { key } => {
                let id = nonce.waitpoint(nth);
                let token = Some(NewToken::signed(&signing.ring, &args.execution_id, &id, key));
                NamedWaitpoint { id, key: key.clone(), token }
            }
        };
        let waitpoints = args.waitpoints.iter().enumerate().map(name).collect();
        Self { suspension_id: nonce.suspension(), waitpoints, secret_mark: signing.mark.clone(), args }
    }
}

/// Releases the lease until a condition is met, unless it is met already. The function signs the token of a new
/// waitpoint.
pub async fn ff_suspend_execution(
    server: &dyn Server,
    keys: &SuspendOpKeys<'_>,
    args: &SuspendExecutionArgs,
) -> Result<SuspendExecutionResult, ScriptError> {
    let SuspendOpKeys { ctx, idx, lane_id, worker_instance_id } = *keys;
    let suspend = SuspendExecution {
        attempt_record: ctx.attempt_hash(args.attempt_index),
        worker_leases: idx.worker_leases(worker_instance_id),
        lane_active: idx.lane_active(lane_id),
        lane_suspended: idx.lane_suspended(lane_id),
        attempt_index: Some(args.attempt_index.0.into()),
        ..call(ctx, idx, args)
    };
    ask_outcome(server, suspend.call()).await
}

impl FromFcallResult for SuspendExecutionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        let suspension_id = fields.read()?;
        let GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token } = granted(&mut fields)?;
        Ok(match already {
            false => Self::Suspended { suspension_id, waitpoint_id, waitpoint_key, waitpoint_token },
            true => Self::AlreadySatisfied { suspension_id, waitpoint_id, waitpoint_key, waitpoint_token },
        })
    }
}

/// Suspends on any number of waitpoints. Their tokens are signed here, which is faster.
pub async fn suspend_signed(server: &dyn Server, signed: &SignedSuspension) -> Result<SuspendedExecution, ScriptError> {
    let Some((first, further)) = signed.waitpoints.split_first() else {
        return Err(Refusal::invalid("waitpoints", "must not be empty").into());
    };
    let SuspendArgs { execution_id, fence, .. } = signed.args;
    let request = &signed.args;
    let (timeout_in_ms, timeout_at) = match request.timeout {
        Some(Timeout::After(ms)) => (Some(ms), None),
        Some(Timeout::At(at)) => (None, Some(at)),
        None => (None, None),
    };
    let args = SuspendExecutionArgs {
        execution_id,
        attempt_index: AttemptIndex::default(),
        attempt_id: fence.attempt_id,
        lease_id: fence.lease_id,
        lease_epoch: fence.lease_epoch,
        suspension_id: signed.suspension_id,
        waitpoint_id: first.id,
        waitpoint_key: first.key.clone(),
        reason_code: request.reason.to_string(),
        requested_by: request.requested_by.to_string(),
        timeout_at,
        resume_condition_json: written("condition", serde_json::to_string(&request.condition))?,
        resume_policy_json: match request.resume_policy.is_default() {
            true => String::new(),
            false => written("resume_policy", serde_json::to_string(&request.resume_policy))?,
        },
        continuation_metadata_pointer: request.continuation.clone(),
        use_pending_waitpoint: first.token.is_none(),
        timeout_behavior: request.timeout_behavior,
    };
    let ((ctx, idx), idempotency_key) = (contexts(&execution_id), request.idempotency_key.as_ref());
    let suspend = SuspendExecution {
        suspend_dedup: idempotency_key.map_or_else(|| ctx.noop(), |key| ctx.suspend_dedup(key.as_str())),
        waitpoint_token: first.token.as_ref().map(NewToken::expose),
        timeout_in_ms,
        idempotency_key: idempotency_key.map(ToString::to_string),
        dedup_ttl_ms: Some(request.dedup_ttl_ms),
        further: further.iter().map(triple).collect(),
        secret_mark: signed.secret_mark.clone(),
        ..call(&ctx, &idx, &args)
    };
    let mut call = suspend.call();
    for NamedWaitpoint { id, .. } in further {
        call.keys.extend([ctx.waitpoint(id), ctx.waitpoint_signals(id), ctx.waitpoint_condition(id)]);
    }
    let (mut fields, already) = ask_fields(server, call).await?;
    let suspension_id = fields.read()?;
    let mut waitpoints = vec![granted(&mut fields)?];
    for _ in 0..fields.read::<usize>()? {
        waitpoints.push(granted(&mut fields)?);
    }
    let outcome = match already {
        false => SuspendOutcome::Suspended,
        true => SuspendOutcome::AlreadySatisfied { signals: fields.items(Fields::read)? },
    };
    Ok(SuspendedExecution { suspension_id, waitpoints, outcome })
}

/// Builds the call without an attempt's index, and with a placeholder for the keys of attempt, worker and lane, which
/// the function takes from the record.
fn call(ctx: &ExecKeyContext, idx: &IndexKeys, args: &SuspendExecutionArgs) -> SuspendExecution {
    SuspendExecution {
        exec_core: ctx.core(),
        attempt_record: ctx.noop(),
        lease_current: ctx.lease_current(),
        lease_history: ctx.lease_history(),
        lease_expiry: idx.lease_expiry(),
        worker_leases: ctx.noop(),
        suspension_current: ctx.suspension_current(),
        waitpoint: ctx.waitpoint(&args.waitpoint_id),
        waitpoint_signals: ctx.waitpoint_signals(&args.waitpoint_id),
        suspension_timeout: idx.suspension_timeout(),
        pending_waitpoint_expiry: idx.pending_waitpoint_expiry(),
        lane_active: ctx.noop(),
        lane_suspended: ctx.noop(),
        waitpoints: ctx.waitpoints(),
        waitpoint_condition: ctx.waitpoint_condition(&args.waitpoint_id),
        attempt_timeout: idx.attempt_timeout(),
        waitpoint_hmac_secrets: idx.waitpoint_hmac_secrets(),
        suspend_dedup: ctx.noop(),
        execution_id: args.execution_id.to_string(),
        attempt_index: None,
        attempt_id: Some(args.attempt_id.to_string()),
        lease_id: Some(args.lease_id.to_string()),
        lease_epoch: Some(args.lease_epoch.0),
        suspension_id: args.suspension_id.to_string(),
        waitpoint_id: args.waitpoint_id.to_string(),
        waitpoint_key: args.waitpoint_key.to_string().into(),
        reason_code: args.reason_code.clone(),
        requested_by: args.requested_by.clone(),
        timeout_at: args.timeout_at.map(moment),
        resume_condition_json: args.resume_condition_json.clone(),
        resume_policy_json: Some(args.resume_policy_json.clone()).filter(|json| !json.is_empty()),
        continuation_metadata_pointer: args.continuation_metadata_pointer.clone().unwrap_or_default().into(),
        use_pending_waitpoint: args.use_pending_waitpoint,
        timeout_behavior: args.timeout_behavior.to_string(),
        lease_history_maxlen: Some(limits::LEASE_HISTORY as u64),
        waitpoint_token: None,
        timeout_in_ms: None,
        idempotency_key: None,
        dedup_ttl_ms: None,
        further: vec![],
        has_continuation: args.continuation_metadata_pointer.is_some(),
        secret_mark: None,
    }
}

/// Encodes a further waitpoint for the list. A pending one has an empty token.
fn triple(waitpoint: &NamedWaitpoint) -> [Bytes; 3] {
    let token = waitpoint.token.as_ref().map(NewToken::expose).unwrap_or_default();
    [waitpoint.id.to_string().into(), waitpoint.key.to_string().into(), token.into()]
}

fn written(field: &str, json: serde_json::Result<String>) -> Result<String, ScriptError> {
    json.map_err(|error| Refusal::invalid(field, error).into())
}

/// Reads the id, key and token of a waitpoint.
pub(super) fn granted(fields: &mut Fields) -> Result<GrantedWaitpoint, ScriptError> {
    let (waitpoint_id, waitpoint_key) = (fields.read()?, fields.read()?);
    Ok(GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token: token(&fields.text()?)? })
}

pub(super) fn token(text: &str) -> Result<WaitpointToken, ScriptError> {
    WaitpointToken::parse(text).map_err(|error| ScriptError::parse(error.to_string()))
}

/// Ends a suspension although its condition is not met.
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
        ..resume_call(ctx, idx, &args.execution_id, args.trigger_type.clone())
    };
    ask_outcome(server, resume.call()).await
}

impl FromFcallResult for ResumeExecutionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        Ok(Self::Resumed { public_state: result.into_fields().0.read()? })
    }
}

/// Ends a suspension by an operator's decision, which is recorded as a signal.
pub async fn resume_by_operator(
    server: &dyn Server,
    request: &ResumeArgs,
    nonce: &Nonce,
) -> Result<ResumedExecution, ScriptError> {
    let (ctx, idx) = contexts(&request.execution_id);
    let payload = request.payload.as_ref();
    let resume = ResumeExecution {
        resume_delay_ms: request.resume_delay_ms,
        suspension_id: request.suspension_id.map(|id| id.to_string()),
        signal_id: Some(nonce.signal().to_string()),
        content_type: payload.and_then(|payload| unless_json(&payload.content_type)),
        payload: payload.map(|payload| payload.bytes.clone()).unwrap_or_default(),
        requested_by: request.requested_by.as_ref().map(ToString::to_string),
        reason: request.reason.clone(),
        ..resume_call(&ctx, &idx, &request.execution_id, request.decision.to_string())
    };
    let mut fields = ask(server, resume.call()).await?;
    let (public_state, suspension_id) = (fields.read()?, fields.read()?);
    Ok(ResumedExecution { suspension_id, public_state, already: !fields.is_empty() })
}

/// Builds the call with a placeholder for the keys of lane and waitpoint, which the function takes from the record.
fn resume_call(
    ctx: &ExecKeyContext,
    idx: &IndexKeys,
    execution_id: &ExecutionId,
    trigger_type: String,
) -> ResumeExecution {
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
