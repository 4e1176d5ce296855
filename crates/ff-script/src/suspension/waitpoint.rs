//! Functions for waitpoints outside a suspension: creating them ahead of it, closing and reading them.

use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{
    CloseWaitpointArgs, CloseWaitpointResult, ClosedWaitpoint, CreatePendingWaitpointArgs,
    CreatePendingWaitpointResult, CreateWaitpointArgs, GrantedWaitpoint,
};
use ff_core::suspension::{BufferedSignal, Waitpoint, WaitpointState};
use ff_core::types::{AttemptIndex, ExecutionId, IdempotencyKey, SignalId, WaitpointId};

use super::keys::contexts;
use super::suspend::{NewToken, granted};
use super::{SigningRing, WaitpointOpKeys};
use crate::execution::core_key;
use crate::record::{Hash, waitpoint};
use crate::server::{ask, ask_outcome};
use crate::signature::{CloseWaitpoint, CreatePendingWaitpoint, ReadWaitpoints};
use crate::{FcallResult, Fields, FromFcallResult, ScriptError, Server};

/// Creates a waitpoint that is pending until a suspension uses it or it expires. The function signs its token.
pub async fn ff_create_pending_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys<'_>,
    args: &CreatePendingWaitpointArgs,
) -> Result<CreatePendingWaitpointResult, ScriptError> {
    ask_outcome(server, create_call(keys, args).call()).await
}

impl FromFcallResult for CreatePendingWaitpointResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token } = granted(&mut result.into_fields().0)?;
        Ok(Self::Created { waitpoint_id, waitpoint_key, waitpoint_token })
    }
}

/// Creates a pending waitpoint under a fence. Its token is signed here, which is faster.
pub async fn create_signed_waitpoint(
    server: &dyn Server,
    request: &CreateWaitpointArgs,
    signing: &SigningRing,
    nonce: &Nonce,
) -> Result<GrantedWaitpoint, ScriptError> {
    let CreateWaitpointArgs { execution_id, fence, ref key, expires_in_ms } = *request;
    let ((ctx, idx), waitpoint_id) = (contexts(&execution_id), nonce.waitpoint(0));
    let args = CreatePendingWaitpointArgs {
        execution_id,
        attempt_index: AttemptIndex::default(),
        waitpoint_id,
        waitpoint_key: key.clone(),
        expires_in_ms,
    };
    let create = CreatePendingWaitpoint {
        attempt_index: None,
        lease_id: Some(fence.lease_id.to_string()),
        lease_epoch: Some(fence.lease_epoch.0),
        attempt_id: Some(fence.attempt_id.to_string()),
        waitpoint_token: Some(NewToken::signed(&signing.ring, &execution_id, &waitpoint_id, key).expose()),
        secret_mark: signing.mark.clone(),
        ..create_call(&WaitpointOpKeys { ctx: &ctx, idx: &idx }, &args)
    };
    granted(&mut ask(server, create.call()).await?)
}

/// Builds the call without a fence and without a token.
fn create_call(
    WaitpointOpKeys { ctx, idx }: &WaitpointOpKeys<'_>,
    args: &CreatePendingWaitpointArgs,
) -> CreatePendingWaitpoint {
    CreatePendingWaitpoint {
        exec_core: ctx.core(),
        waitpoint: ctx.waitpoint(&args.waitpoint_id),
        pending_waitpoint_expiry: idx.pending_waitpoint_expiry(),
        waitpoint_hmac_secrets: idx.waitpoint_hmac_secrets(),
        execution_id: args.execution_id.to_string(),
        attempt_index: Some(args.attempt_index.0.into()),
        waitpoint_id: args.waitpoint_id.to_string(),
        waitpoint_key: args.waitpoint_key.to_string().into(),
        expires_at: None,
        expires_in_ms: Some(args.expires_in_ms),
        lease_id: None,
        lease_epoch: None,
        attempt_id: None,
        waitpoint_token: None,
        secret_mark: None,
    }
}

/// Closes a pending waitpoint.
pub async fn ff_close_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys<'_>,
    args: &CloseWaitpointArgs,
) -> Result<CloseWaitpointResult, ScriptError> {
    ask_outcome(server, close_call(keys, args).call()).await
}

impl FromFcallResult for CloseWaitpointResult {
    fn from_fcall_result(_: FcallResult) -> Result<Self, ScriptError> {
        Ok(Self::Closed)
    }
}

/// Closes a pending waitpoint, and returns whether it was closed before.
pub async fn close_waitpoint(server: &dyn Server, args: &CloseWaitpointArgs) -> Result<ClosedWaitpoint, ScriptError> {
    let (ctx, idx) = contexts(&args.execution_id);
    let fields = ask(server, close_call(&WaitpointOpKeys { ctx: &ctx, idx: &idx }, args).call()).await?;
    Ok(ClosedWaitpoint { already: !fields.is_empty() })
}

fn close_call(WaitpointOpKeys { ctx, idx }: &WaitpointOpKeys<'_>, args: &CloseWaitpointArgs) -> CloseWaitpoint {
    CloseWaitpoint {
        exec_core: ctx.core(),
        waitpoint: ctx.waitpoint(&args.waitpoint_id),
        pending_waitpoint_expiry: idx.pending_waitpoint_expiry(),
        waitpoint_id: args.waitpoint_id.to_string(),
        has_reason: args.reason.is_some(),
        reason: args.reason.clone().unwrap_or_default().into(),
    }
}

/// A waitpoint as the store has it.
#[derive(Clone, Debug)]
pub struct KeptWaitpoint {
    /// Without its buffered signals; their ids are in `buffered`.
    pub waitpoint: Waitpoint,
    pub state: WaitpointState,
    pub buffered: Vec<SignalId>,
    /// The idempotency key of the suspension that has it as its first waitpoint, if any.
    pub suspend_key: Option<IdempotencyKey>,
}

impl KeptWaitpoint {
    /// Returns the waitpoint with its buffered signals, as far as they are found.
    pub fn with_signals(self, mut find: impl FnMut(&SignalId) -> Option<BufferedSignal>) -> Waitpoint {
        Waitpoint { buffered: self.buffered.iter().filter_map(&mut find).collect(), ..self.waitpoint }
    }
}

/// Reads the waitpoints of an execution: one or all, and optionally only those that take signals.
pub async fn ff_read_waitpoints(
    server: &dyn Server,
    id: &ExecutionId,
    only: Option<&WaitpointId>,
    open: bool,
) -> Result<Vec<KeptWaitpoint>, ScriptError> {
    let read = ReadWaitpoints { core: core_key(id), waitpoint_id: only.map(ToString::to_string), open };
    let mut fields = ask(server, read.call()).await?;
    fields.rows(|row| {
        let (waitpoint_id, state) = (row.read()?, row.read()?);
        let hash = Hash::parse(row.list()?)?;
        let buffered = row.items(Fields::read)?;
        let waitpoint = waitpoint(*id, waitpoint_id, &hash)?;
        Ok(KeptWaitpoint { waitpoint, state, buffered, suspend_key: hash.maybe("suspend_key")? })
    })
}
