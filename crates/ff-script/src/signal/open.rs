//! What it takes to judge a token.

use ff_core::contracts::WaitpointRef;
use ff_core::engine_error::Code;
use ff_core::token::{KeyRing, PresentedToken, RingKey, Secret, WaitpointToken};
use ff_core::types::{ExecutionId, Kid, TimestampMs, WaitpointId, WaitpointKey};

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
    secret_mark: Option<String>,
}

/// A token whose MAC is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    pub token: WaitpointToken,
    /// Stands for the secret it was verified under. The token that the maker of a waitpoint was told needs none.
    pub secret_mark: Option<String>,
}

impl Opened {
    /// Judges a token shown for the waitpoint: genuine, and under a secret that verifies.
    pub fn verify(&self, execution: &ExecutionId, shown: &PresentedToken, kid: &Kid) -> Result<VerifiedToken, Code> {
        let key = RingKey { secret: self.secret.clone(), expires_at: self.expires_at };
        let ring = KeyRing { current: None, keys: [(kid.clone(), key)].into() };
        let token = ring.verify(shown, execution, &self.waitpoint_id, &self.waitpoint_key, self.now)?;
        Ok(VerifiedToken { token, secret_mark: self.secret_mark.clone() })
    }
}

/// Which waitpoint of an execution is meant, and the secret of a token's kid. Refused alike, whatever is not there.
pub async fn ff_open_waitpoint(
    server: &dyn Server,
    execution: &ExecutionId,
    waitpoint: &WaitpointRef,
    kid: &Kid,
) -> Result<Opened, ScriptError> {
    let (waitpoint_id, waitpoint_key) = match waitpoint {
        WaitpointRef::Id(id) => (Some(id.to_string()), None),
        WaitpointRef::Key(key) => (None, Some(key.to_string())),
    };
    let core = core_key(execution);
    ask(server, OpenWaitpoint { core, waitpoint_id, waitpoint_key, kid: kid.to_string() }.call()).await
}

impl FromFcallResult for Opened {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (waitpoint_id, waitpoint_key) = (fields.read()?, fields.read()?);
        let secret = Secret::from_hex(&fields.text()?).map_err(|error| ScriptError::parse(error.to_string()))?;
        let expires_at = fields.maybe_read()?.map(TimestampMs);
        let (now, secret_mark) = (TimestampMs(fields.read()?), fields.maybe_text()?);
        Ok(Self { waitpoint_id, waitpoint_key, secret, expires_at, now, secret_mark })
    }
}
