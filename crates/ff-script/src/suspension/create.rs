//! A waitpoint that is created ahead of the suspension.

use ff_core::contracts::{
    CreatePendingWaitpointArgs, CreatePendingWaitpointResult, CreateWaitpointArgs, GrantedWaitpoint,
};
use ff_core::dice::Nonce;
use ff_core::types::AttemptIndex;

use super::keys::contexts;
use super::suspend::{NewToken, granted};
use super::{SigningRing, WaitpointOpKeys};
use crate::server::ask;
use crate::signature::CreatePendingWaitpoint;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Creates a waitpoint that pends until a suspension uses it or it expires. The function signs its token.
pub async fn ff_create_pending_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys<'_>,
    args: &CreatePendingWaitpointArgs,
) -> Result<CreatePendingWaitpointResult, ScriptError> {
    let created = ask(server, call(keys, args).call()).await?;
    let GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token } = created;
    Ok(CreatePendingWaitpointResult::Created { waitpoint_id, waitpoint_key, waitpoint_token })
}

/// The same, under a fence and with a token that is signed here, which is faster.
pub async fn create_signed_waitpoint(
    server: &dyn Server,
    asked: &CreateWaitpointArgs,
    signing: &SigningRing,
    nonce: &Nonce,
) -> Result<GrantedWaitpoint, ScriptError> {
    let CreateWaitpointArgs { execution_id, fence, ref key, expires_in_ms } = *asked;
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
        ..call(&WaitpointOpKeys { ctx: &ctx, idx: &idx }, &args)
    };
    ask(server, create.call()).await
}

/// The call without a fence and without a token.
fn call(
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

impl FromFcallResult for GrantedWaitpoint {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        granted(&mut fields)
    }
}
