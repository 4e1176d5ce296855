//! Someone outside tells an execution something.

use bytes::Bytes;
use ff_core::contracts::{DeliverArgs, Delivered};
use ff_core::dice::Nonce;
use ff_core::types::WaitpointId;

use super::VerifiedToken;
use crate::execution::{core_key, unless_json};
use crate::server::ask;
use crate::signature::{BufferSignalForPendingWaitpoint, DeliverSignal};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// The two functions take the same.
macro_rules! delivery {
    ($function:ident, $args:ident, $waitpoint:ident, $shown:ident, $nonce:ident) => {{
        let (payload, content_type) = body(&$args);
        $function {
            core: core_key(&$args.execution_id),
            waitpoint_id: $waitpoint.to_string(),
            kid: $shown.token.kid.to_string(),
            mac: $shown.token.mac.expose_hex(),
            signal_id: $nonce.signal().to_string(),
            signal_name: $args.name.to_string(),
            source_type: $args.source.kind.to_string(),
            source_identity: $args.source.identity.map(|identity| identity.to_string()),
            payload,
            content_type,
            idempotency_key: $args.idempotency_key.map(|key| key.to_string()),
            dedup_ttl_ms: $args.dedup_ttl_ms,
            secret_mark: $shown.secret_mark.clone(),
        }
    }};
}

/// Delivers a signal to a waitpoint. Its token was verified before; that the secret it was verified under is still there and
/// verifies is judged in the step that writes.
pub async fn ff_deliver_signal(
    server: &dyn Server,
    args: DeliverArgs,
    waitpoint: &WaitpointId,
    shown: &VerifiedToken,
    nonce: &Nonce,
) -> Result<Delivered, ScriptError> {
    let deliver = delivery!(DeliverSignal, args, waitpoint, shown, nonce);
    ask(server, deliver.call()).await
}

/// Keeps a signal for a suspension that has not begun, and for nothing else.
pub async fn ff_buffer_signal_for_pending_waitpoint(
    server: &dyn Server,
    args: DeliverArgs,
    waitpoint: &WaitpointId,
    shown: &VerifiedToken,
    nonce: &Nonce,
) -> Result<Delivered, ScriptError> {
    let buffer = delivery!(BufferSignalForPendingWaitpoint, args, waitpoint, shown, nonce);
    ask(server, buffer.call()).await
}

/// The bytes of a signal, and their type where it has to be kept.
fn body(args: &DeliverArgs) -> (Bytes, Option<String>) {
    let payload = args.payload.as_ref();
    let content_type = payload.and_then(|payload| unless_json(&payload.content_type));
    (payload.map(|payload| payload.bytes.clone()).unwrap_or_default(), content_type)
}

impl FromFcallResult for Delivered {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { signal_id: fields.read()?, effect: fields.read()? })
    }
}
