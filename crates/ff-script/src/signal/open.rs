//! What it takes to judge a token.

use ff_core::contracts::{DeliverArgs, WaitpointRef};
use ff_core::engine_error::Code;
use ff_core::token::{KeyRing, RingKey, Secret, WaitpointToken};
use ff_core::types::{Kid, TimestampMs, WaitpointId, WaitpointKey};

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::OpenWaitpoint;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// The waitpoint that is meant, and what its token is verified with.
#[derive(Clone, Debug)]
pub struct Opened {
    pub waitpoint_id: WaitpointId,
    waitpoint_key: WaitpointKey,
    secret: Secret,
    expires_at: Option<TimestampMs>,
    now: TimestampMs,
}

impl Opened {
    /// Judges the token of a signal: genuine, and under a secret that verifies.
    pub fn verify(&self, args: &DeliverArgs, kid: &Kid) -> Result<WaitpointToken, Code> {
        let key = RingKey { secret: self.secret.clone(), expires_at: self.expires_at };
        let ring = KeyRing { current: None, keys: [(kid.clone(), key)].into() };
        ring.verify(&args.token, &args.execution_id, &self.waitpoint_id, &self.waitpoint_key, self.now)
    }
}

/// Which waitpoint a signal means, and the secret of its token's kid. Refused alike, whatever is not there.
pub async fn ff_open_waitpoint(server: &dyn Server, args: &DeliverArgs, kid: &Kid) -> Result<Opened, ScriptError> {
    let (waitpoint_id, waitpoint_key) = match &args.waitpoint {
        WaitpointRef::Id(id) => (Some(id.to_string()), None),
        WaitpointRef::Key(key) => (None, Some(key.to_string())),
    };
    let core = core_key(&args.execution_id);
    ask(server, OpenWaitpoint { core, waitpoint_id, waitpoint_key, kid: kid.to_string() }.call()).await
}

impl FromFcallResult for Opened {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (waitpoint_id, waitpoint_key) = (fields.read()?, fields.read()?);
        let secret = Secret::from_hex(&fields.text()?).map_err(|error| ScriptError::parse(error.to_string()))?;
        let expires_at = fields.maybe_read()?.map(TimestampMs);
        Ok(Self { waitpoint_id, waitpoint_key, secret, expires_at, now: TimestampMs(fields.read()?) })
    }
}
