//! The holder wants a waitpoint ahead of waiting.

use ff_core::contracts::{CreateWaitpointArgs, GrantedWaitpoint};
use ff_core::dice::Nonce;
use ff_core::lease::Fence;
use ff_core::types::{ExecutionId, WaitpointId, WaitpointKey};

use super::suspend::{NewToken, granted};
use super::{SigningRing, WaitpointOpKeys};
use crate::server::ask;
use crate::signature::CreatePendingWaitpoint;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// A waitpoint to be made ahead, with the id it is to have and its token, which is signed before the call.
#[derive(Clone, Debug)]
pub struct CreatePendingWaitpointArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub waitpoint_token: NewToken,
    /// Of the secret it is signed under, when it is known.
    pub secret_mark: Option<String>,
    pub expires_in_ms: u64,
}

impl CreatePendingWaitpointArgs {
    /// Names and signs what was asked for.
    pub fn new(asked: CreateWaitpointArgs, signing: &SigningRing, nonce: &Nonce) -> Self {
        let waitpoint_id = nonce.waitpoint(0);
        Self {
            execution_id: asked.execution_id,
            fence: asked.fence,
            waitpoint_token: NewToken::signed(&signing.ring, &asked.execution_id, &waitpoint_id, &asked.key),
            secret_mark: signing.mark.clone(),
            waitpoint_id,
            waitpoint_key: asked.key,
            expires_in_ms: asked.expires_in_ms,
        }
    }
}

/// The waitpoint that pends under its key now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreatePendingWaitpointResult {
    Created(GrantedWaitpoint),
}

/// Makes a waitpoint that pends until a suspension uses it or its time runs out.
pub async fn ff_create_pending_waitpoint(
    server: &dyn Server,
    keys: &WaitpointOpKeys,
    args: &CreatePendingWaitpointArgs,
) -> Result<CreatePendingWaitpointResult, ScriptError> {
    let create = CreatePendingWaitpoint {
        exec_core: keys.exec.core(),
        waitpoint: keys.exec.waitpoint(&args.waitpoint_id),
        pending_waitpoint_expiry: keys.index.pending_waitpoint_expiry(),
        waitpoint_hmac_secrets: keys.index.waitpoint_hmac_secrets(),
        execution_id: args.execution_id.to_string(),
        attempt_index: None,
        waitpoint_id: args.waitpoint_id.to_string(),
        waitpoint_key: args.waitpoint_key.to_string().into(),
        expires_at: None,
        expires_in_ms: Some(args.expires_in_ms),
        lease_id: Some(args.fence.lease_id.to_string()),
        lease_epoch: Some(args.fence.lease_epoch.0),
        attempt_id: Some(args.fence.attempt_id.to_string()),
        waitpoint_token: Some(args.waitpoint_token.expose()),
        secret_mark: args.secret_mark.clone(),
    };
    ask(server, create.call()).await
}

impl FromFcallResult for CreatePendingWaitpointResult {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        granted(&mut fields).map(Self::Created)
    }
}
