//! The holder lets go and waits.

use bytes::Bytes;
use ff_core::contracts::{GrantedWaitpoint, SuspendArgs, SuspendOutcome, Suspended, Timeout, WaitpointBinding};
use ff_core::dice::Nonce;
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::token::{KeyRing, WaitpointToken};
use ff_core::types::{ExecutionId, SuspensionId, WaitpointId, WaitpointKey};

use super::keys::or_noop;
use super::{SigningRing, SuspendOpKeys};
use crate::execution::moment;
use crate::server::ask;
use crate::signature::SuspendExecution;
use crate::{FcallResult, Fields, FromFcallResult, ScriptError, Server};

/// A suspension as the function takes it: what the holder asked for, the ids it is to have, and the tokens of the new
/// waitpoints, which are signed before the call.
#[derive(Clone, Debug)]
pub struct SuspendExecutionArgs {
    pub asked: SuspendArgs,
    pub suspension_id: SuspensionId,
    /// One for each waitpoint that is asked for, in their order.
    pub waitpoints: Vec<NamedWaitpoint>,
    /// Of the secret the new ones are signed under, when it is known.
    pub secret_mark: Option<String>,
}

/// A waitpoint of a suspension that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWaitpoint {
    pub id: WaitpointId,
    pub key: WaitpointKey,
    /// None when it was made ahead, and has its token.
    pub token: Option<NewToken>,
}

/// The token of a new waitpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewToken {
    Signed(WaitpointToken),
    /// The caller knows of no secret; the function refuses it, after whatever else there is to refuse.
    Unsigned,
}

impl NewToken {
    /// Stands where a token belongs. It is none, so nothing can be opened by it.
    const UNSIGNED: &str = "unsigned";

    /// Signs under the current secret of a ring.
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

impl SuspendExecutionArgs {
    /// Names and signs what was asked for.
    pub fn new(asked: SuspendArgs, signing: &SigningRing, nonce: &Nonce) -> Self {
        let name = |(nth, binding): (usize, &WaitpointBinding)| match binding {
            WaitpointBinding::Pending { id, key } => NamedWaitpoint { id: *id, key: key.clone(), token: None },
            WaitpointBinding::Fresh { key } => {
                let id = nonce.waitpoint(nth);
                let token = Some(NewToken::signed(&signing.ring, &asked.execution_id, &id, key));
                NamedWaitpoint { id, key: key.clone(), token }
            }
        };
        let waitpoints = asked.waitpoints.iter().enumerate().map(name).collect();
        Self { suspension_id: nonce.suspension(), waitpoints, secret_mark: signing.mark.clone(), asked }
    }
}

/// What became of the wish to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuspendExecutionResult {
    Suspended(Suspended),
    /// What was to be waited for had arrived before.
    AlreadySatisfied(Suspended),
}

/// Releases the lease until a condition is met, unless it is met already.
pub async fn ff_suspend_execution(
    server: &dyn Server,
    keys: &SuspendOpKeys,
    args: &SuspendExecutionArgs,
) -> Result<SuspendExecutionResult, ScriptError> {
    let Some((first, further)) = args.waitpoints.split_first() else {
        return Err(Refusal::invalid("waitpoints", "must not be empty").into());
    };
    let SuspendArgs { execution_id, fence, .. } = &args.asked;
    let (timeout_in_ms, timeout_at) = match args.asked.timeout {
        Some(Timeout::After(ms)) => (Some(ms), None),
        Some(Timeout::At(at)) => (None, Some(moment(at))),
        None => (None, None),
    };
    let (exec, index) = (&keys.exec, &keys.index);
    let lane = |key: fn(&_, &_) -> String| or_noop(exec, keys.lane_id.as_ref(), |lane| key(index, lane));
    let idempotency_key = args.asked.idempotency_key.as_ref();
    let suspend = SuspendExecution {
        exec_core: exec.core(),
        attempt_record: or_noop(exec, keys.attempt_index.as_ref(), |nth| exec.attempt_hash(*nth)),
        lease_current: exec.lease_current(),
        lease_history: exec.lease_history(),
        lease_expiry: index.lease_expiry(),
        worker_leases: or_noop(exec, keys.worker_instance_id.as_ref(), |instance| index.worker_leases(instance)),
        suspension_current: exec.suspension_current(),
        waitpoint: exec.waitpoint(&first.id),
        waitpoint_signals: exec.waitpoint_signals(&first.id),
        suspension_timeout: index.suspension_timeout(),
        pending_waitpoint_expiry: index.pending_waitpoint_expiry(),
        lane_active: lane(|index, lane| index.lane_active(lane)),
        lane_suspended: lane(|index, lane| index.lane_suspended(lane)),
        waitpoints: exec.waitpoints(),
        waitpoint_condition: exec.waitpoint_condition(&first.id),
        attempt_timeout: index.attempt_timeout(),
        waitpoint_hmac_secrets: index.waitpoint_hmac_secrets(),
        suspend_dedup: or_noop(exec, idempotency_key, |key| exec.suspend_dedup(key.as_str())),
        execution_id: execution_id.to_string(),
        attempt_index: keys.attempt_index.map(|nth| nth.0.into()),
        attempt_id: Some(fence.attempt_id.to_string()),
        lease_id: Some(fence.lease_id.to_string()),
        lease_epoch: Some(fence.lease_epoch.0),
        suspension_id: args.suspension_id.to_string(),
        waitpoint_id: first.id.to_string(),
        waitpoint_key: first.key.to_string().into(),
        reason_code: args.asked.reason.to_string(),
        requested_by: args.asked.requested_by.to_string(),
        timeout_at,
        resume_condition_json: written("condition", serde_json::to_string(&args.asked.condition))?,
        resume_policy_json: match args.asked.resume_policy.is_default() {
            true => None,
            false => Some(written("resume_policy", serde_json::to_string(&args.asked.resume_policy))?),
        },
        continuation_metadata_pointer: args.asked.continuation.clone().unwrap_or_default().into(),
        use_pending_waitpoint: first.token.is_none(),
        timeout_behavior: args.asked.timeout_behavior.to_string(),
        lease_history_maxlen: Some(limits::LEASE_HISTORY as u64),
        waitpoint_token: first.token.as_ref().map(NewToken::expose),
        timeout_in_ms,
        idempotency_key: idempotency_key.map(ToString::to_string),
        dedup_ttl_ms: Some(args.asked.dedup_ttl_ms),
        further: further.iter().map(triple).collect(),
        has_continuation: args.asked.continuation.is_some(),
        secret_mark: args.secret_mark.clone(),
    };
    let mut call = suspend.call();
    for NamedWaitpoint { id, .. } in further {
        call.keys.extend([exec.waitpoint(id), exec.waitpoint_signals(id), exec.waitpoint_condition(id)]);
    }
    ask(server, call).await
}

/// A further waitpoint as the list has it. One made ahead has an empty token.
fn triple(waitpoint: &NamedWaitpoint) -> [Bytes; 3] {
    let token = waitpoint.token.as_ref().map(NewToken::expose).unwrap_or_default();
    [waitpoint.id.to_string().into(), waitpoint.key.to_string().into(), token.into()]
}

fn written(field: &str, json: serde_json::Result<String>) -> Result<String, ScriptError> {
    json.map_err(|error| Refusal::invalid(field, error).into())
}

impl FromFcallResult for SuspendExecutionResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        let suspension_id = fields.read()?;
        let mut waitpoints = vec![granted(&mut fields)?];
        for _ in 0..fields.read::<usize>()? {
            waitpoints.push(granted(&mut fields)?);
        }
        if !already {
            let outcome = SuspendOutcome::Suspended;
            return Ok(Self::Suspended(Suspended { suspension_id, waitpoints, outcome }));
        }
        let (mut ids, mut signals) = (fields.nested()?, Vec::new());
        while !ids.is_empty() {
            signals.push(ids.read()?);
        }
        let outcome = SuspendOutcome::AlreadySatisfied { signals };
        Ok(Self::AlreadySatisfied(Suspended { suspension_id, waitpoints, outcome }))
    }
}

impl From<SuspendExecutionResult> for Suspended {
    fn from(result: SuspendExecutionResult) -> Self {
        match result {
            SuspendExecutionResult::Suspended(suspended) | SuspendExecutionResult::AlreadySatisfied(suspended) => {
                suspended
            }
        }
    }
}

/// Id, key and token.
pub(super) fn granted(fields: &mut Fields) -> Result<GrantedWaitpoint, ScriptError> {
    let (waitpoint_id, waitpoint_key) = (fields.read()?, fields.read()?);
    Ok(GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token: token(&fields.text()?)? })
}

pub(super) fn token(text: &str) -> Result<WaitpointToken, ScriptError> {
    WaitpointToken::parse(text).map_err(|error| ScriptError::parse(error.to_string()))
}
