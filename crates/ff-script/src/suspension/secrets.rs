//! The secrets that sign tokens: rotating, listing and reading them, and storing them on partitions that have none.

use ff_core::contracts::{
    ListWaitpointHmacKidsArgs, RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, VerifyingKid,
    WaitpointHmacKids,
};
use ff_core::keys::IndexKeys;
use ff_core::token::KeyRing;

use crate::execution::index_keys;
use crate::record::{Hash, ring, ring_fields};
use crate::server::{ask, ask_outcome};
use crate::signature::{
    ListWaitpointHmacKids, ReadWaitpointHmacSecrets, RotateWaitpointHmacSecret, SeedWaitpointHmacSecrets,
};
use crate::{FcallResult, Fields, FromFcallResult, ScriptError, Server};

/// Makes a secret the current one of a partition.
pub async fn ff_rotate_waitpoint_hmac_secret(
    server: &dyn Server,
    idx: &IndexKeys,
    args: &RotateWaitpointHmacSecretArgs,
) -> Result<RotateWaitpointHmacSecretOutcome, ScriptError> {
    let rotate = RotateWaitpointHmacSecret {
        waitpoint_hmac_secrets: idx.waitpoint_hmac_secrets(),
        new_kid: args.new_kid.clone().into(),
        new_secret_hex: args.new_secret_hex.clone().into(),
        grace_ms: args.grace_ms.to_string().into(),
    };
    ask_outcome(server, rotate.call()).await
}

impl FromFcallResult for RotateWaitpointHmacSecretOutcome {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        match fields.text()?.as_str() {
            "rotated" => Ok(Self::Rotated {
                previous_kid: fields.maybe_text()?,
                new_kid: fields.text()?,
                gc_count: fields.read()?,
            }),
            "noop" => Ok(Self::Noop { kid: fields.text()? }),
            other => Err(ScriptError::parse(format!("no rotation ends as {other}"))),
        }
    }
}

/// Lists the kids of the secrets of a partition.
pub async fn ff_list_waitpoint_hmac_kids(
    server: &dyn Server,
    idx: &IndexKeys,
    _args: &ListWaitpointHmacKidsArgs,
) -> Result<WaitpointHmacKids, ScriptError> {
    ask_outcome(server, ListWaitpointHmacKids { waitpoint_hmac_secrets: idx.waitpoint_hmac_secrets() }.call()).await
}

impl FromFcallResult for WaitpointHmacKids {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let current_kid = fields.maybe_text()?;
        let mut verifying = Vec::new();
        for _ in 0..fields.read::<usize>()? {
            verifying.push(VerifyingKid { kid: fields.text()?, expires_at_ms: fields.read()? });
        }
        Ok(Self { current_kid, verifying })
    }
}

/// The secrets for signing, as last read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningRing {
    pub ring: KeyRing,
    /// Sent with signed tokens, so that a partition with another secret of the same kid notices.
    pub(super) mark: Option<String>,
}

impl From<KeyRing> for SigningRing {
    fn from(ring: KeyRing) -> Self {
        Self { ring, mark: None }
    }
}

/// Reads the secrets of a partition; none when it has none yet.
pub async fn ff_read_waitpoint_hmac_secrets(
    server: &dyn Server,
    partition: u16,
) -> Result<Option<SigningRing>, ScriptError> {
    let mut fields =
        ask(server, ReadWaitpointHmacSecrets { waitpoint_hmac_secrets: secrets_key(partition) }.call()).await?;
    let ring = read_ring(&mut fields)?;
    let mark = fields.maybe_text()?;
    Ok(ring.map(|ring| SigningRing { ring, mark }))
}

/// Stores secrets for a partition that has none, and returns the stored secrets.
pub async fn ff_seed_waitpoint_hmac_secrets(
    server: &dyn Server,
    partition: u16,
    ring: &KeyRing,
) -> Result<KeyRing, ScriptError> {
    let waitpoint_hmac_secrets = secrets_key(partition);
    let mut fields =
        ask(server, SeedWaitpointHmacSecrets { waitpoint_hmac_secrets, fields: ring_fields(ring) }.call()).await?;
    read_ring(&mut fields)?.ok_or_else(|| ScriptError::parse("a partition has no secrets though it was given some"))
}

fn read_ring(fields: &mut Fields) -> Result<Option<KeyRing>, ScriptError> {
    let fields = Hash::parse(fields.list()?)?;
    if fields.is_empty() { Ok(None) } else { ring(&fields).map(Some) }
}

fn secrets_key(partition: u16) -> String {
    index_keys(partition).waitpoint_hmac_secrets()
}
