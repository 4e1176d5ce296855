//! Delivering signals to executions.

use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{DeliverArgs, DeliveredSignal, WaitpointRef};
use ff_core::engine_error::Code;
use ff_core::token::{KeyRing, PresentedToken, RingKey, Secret, WaitpointToken};
use ff_core::types::{ExecutionId, Kid, TimestampMs, WaitpointId, WaitpointKey};

use crate::execution::{core_key, unless_json};
use crate::server::ask;
use crate::signature::{DeliverSignal, OpenWaitpoint};
use crate::{Fcall, ScriptError, Server};

/// Delivers a signal to a waitpoint. The caller has verified the token; the function checks in the same atomic step
/// that the secret still exists and still verifies.
pub async fn ff_deliver_signal(
    server: &dyn Server,
    args: DeliverArgs,
    waitpoint: &WaitpointId,
    verified: &VerifiedToken,
    nonce: &Nonce,
) -> Result<DeliveredSignal, ScriptError> {
    delivered(server, delivery(args, waitpoint, verified, nonce).call()).await
}

pub(crate) fn delivery(
    args: DeliverArgs,
    waitpoint: &WaitpointId,
    verified: &VerifiedToken,
    nonce: &Nonce,
) -> DeliverSignal {
    let payload = args.payload.as_ref();
    DeliverSignal {
        core: core_key(&args.execution_id),
        waitpoint_id: waitpoint.to_string(),
        kid: verified.token.kid.to_string(),
        mac: verified.token.mac.expose_hex(),
        signal_id: nonce.signal().to_string(),
        signal_name: args.name.to_string(),
        source_type: args.source.kind.to_string(),
        source_identity: args.source.identity.map(|identity| identity.to_string()),
        payload: payload.map(|payload| payload.bytes.clone()).unwrap_or_default(),
        content_type: payload.and_then(|payload| unless_json(&payload.content_type)),
        idempotency_key: args.idempotency_key.map(|key| key.to_string()),
        dedup_ttl_ms: args.dedup_ttl_ms,
        secret_mark: verified.secret_mark.clone(),
    }
}

/// Sends a delivery, and reads its answer.
pub(crate) async fn delivered(server: &dyn Server, call: Fcall) -> Result<DeliveredSignal, ScriptError> {
    let mut fields = ask(server, call).await?;
    Ok(DeliveredSignal { signal_id: fields.read()?, effect: fields.read()? })
}

/// The waitpoint of a signal, and the secret to verify its token with.
#[derive(Clone, Debug)]
pub struct WaitpointLookup {
    pub waitpoint_id: WaitpointId,
    waitpoint_key: WaitpointKey,
    secret: Secret,
    expires_at: Option<TimestampMs>,
    now: TimestampMs,
    secret_mark: Option<String>,
}

/// A token with a valid MAC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    pub token: WaitpointToken,
    /// Identifies the secret that verified the token. The token handed to the maker of a waitpoint needs none.
    pub secret_mark: Option<String>,
}

impl WaitpointLookup {
    /// Verifies a token that was presented for the waitpoint: its MAC must be right, and its secret must still verify.
    pub fn verify(
        &self,
        execution: &ExecutionId,
        presented: &PresentedToken,
        kid: &Kid,
    ) -> Result<VerifiedToken, Code> {
        let key = RingKey { secret: self.secret.clone(), expires_at: self.expires_at };
        let ring = KeyRing { current: None, keys: [(kid.clone(), key)].into() };
        let token = ring.verify(presented, execution, &self.waitpoint_id, &self.waitpoint_key, self.now)?;
        Ok(VerifiedToken { token, secret_mark: self.secret_mark.clone() })
    }
}

/// Returns the waitpoint that a signal is for, and the secret of the token's kid. The refusal is the same for every
/// missing record.
pub async fn ff_open_waitpoint(
    server: &dyn Server,
    execution: &ExecutionId,
    waitpoint: &WaitpointRef,
    kid: &Kid,
) -> Result<WaitpointLookup, ScriptError> {
    let (waitpoint_id, waitpoint_key) = match waitpoint {
        WaitpointRef::Id(id) => (Some(id.to_string()), None),
        WaitpointRef::Key(key) => (None, Some(key.to_string())),
    };
    let core = core_key(execution);
    let mut fields =
        ask(server, OpenWaitpoint { core, waitpoint_id, waitpoint_key, kid: kid.to_string() }.call()).await?;
    let (waitpoint_id, waitpoint_key) = (fields.read()?, fields.read()?);
    let secret = Secret::from_hex(&fields.text()?).map_err(|error| ScriptError::parse(error.to_string()))?;
    let expires_at = fields.maybe_read()?.map(TimestampMs);
    let (now, secret_mark) = (TimestampMs(fields.read()?), fields.maybe_text()?);
    Ok(WaitpointLookup { waitpoint_id, waitpoint_key, secret, expires_at, now, secret_mark })
}
