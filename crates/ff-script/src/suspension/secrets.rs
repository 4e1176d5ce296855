//! The secrets tokens are signed under: rotated, named, read by whoever signs, and given to partitions that have none.

use ff_core::contracts::{Kids, RetiredKid, RotateSecretArgs, Rotated};
use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::token::KeyRing;
use ff_core::types::{Kid, TimestampMs};

use crate::record::{Hash, ring, ring_fields};
use crate::server::ask;
use crate::signature::{
    ListWaitpointHmacKids, ReadWaitpointHmacSecrets, RotateWaitpointHmacSecret, SeedWaitpointHmacSecrets,
};
use crate::{FcallResult, Fields, FromFcallResult, ScriptError, Server};

/// A new secret for one partition. Callers fan out over all of them.
#[derive(Clone, Debug)]
pub struct RotateWaitpointHmacSecretArgs {
    pub partition: u16,
    pub rotation: RotateSecretArgs,
}

/// What became of a rotation on one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RotateWaitpointHmacSecretOutcome {
    Rotated { previous_kid: Option<Kid>, new_kid: Kid, gc_count: usize },
    Noop { kid: Kid },
}

impl From<RotateWaitpointHmacSecretOutcome> for Rotated {
    fn from(outcome: RotateWaitpointHmacSecretOutcome) -> Self {
        match outcome {
            RotateWaitpointHmacSecretOutcome::Rotated { previous_kid, new_kid, gc_count } => {
                Self::Rotated { previous_kid, new_kid, gc_count }
            }
            RotateWaitpointHmacSecretOutcome::Noop { kid } => Self::Noop { kid },
        }
    }
}

/// Makes a secret the current one of a partition.
pub async fn ff_rotate_waitpoint_hmac_secret(
    server: &dyn Server,
    args: &RotateWaitpointHmacSecretArgs,
) -> Result<RotateWaitpointHmacSecretOutcome, ScriptError> {
    let rotate = RotateWaitpointHmacSecret {
        waitpoint_hmac_secrets: secrets_key(args.partition),
        new_kid: args.rotation.kid.to_string().into(),
        new_secret_hex: args.rotation.secret.expose_hex().into(),
        grace_ms: args.rotation.grace_ms.to_string().into(),
    };
    ask(server, rotate.call()).await
}

impl FromFcallResult for RotateWaitpointHmacSecretOutcome {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        match fields.text()?.as_str() {
            "rotated" => Ok(Self::Rotated {
                previous_kid: fields.maybe_read()?,
                new_kid: fields.read()?,
                gc_count: fields.read()?,
            }),
            "noop" => Ok(Self::Noop { kid: fields.read()? }),
            other => Err(ScriptError::parse(format!("no rotation ends as {other}"))),
        }
    }
}

/// Whose kids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListWaitpointHmacKidsArgs {
    pub partition: u16,
}

/// The names of the secrets of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitpointHmacKids {
    pub current_kid: Option<Kid>,
    /// Those that only verify, and until when.
    pub verifying: Vec<RetiredKid>,
}

impl From<WaitpointHmacKids> for Kids {
    fn from(WaitpointHmacKids { current_kid, verifying }: WaitpointHmacKids) -> Self {
        Self { current_kid, verifying }
    }
}

/// The names of the secrets of a partition.
pub async fn ff_list_waitpoint_hmac_kids(
    server: &dyn Server,
    args: &ListWaitpointHmacKidsArgs,
) -> Result<WaitpointHmacKids, ScriptError> {
    ask(server, ListWaitpointHmacKids { waitpoint_hmac_secrets: secrets_key(args.partition) }.call()).await
}

impl FromFcallResult for WaitpointHmacKids {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let current_kid = fields.maybe_read()?;
        let mut verifying = Vec::new();
        for _ in 0..fields.read::<usize>()? {
            verifying.push(RetiredKid { kid: fields.read()?, expires_at: TimestampMs(fields.read()?) });
        }
        Ok(Self { current_kid, verifying })
    }
}

/// Secrets to sign under, as they were when they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningRing {
    pub ring: KeyRing,
    /// Shown with what is signed, so that a store that has other secrets under the same name notices.
    pub(super) mark: Option<String>,
}

impl From<KeyRing> for SigningRing {
    fn from(ring: KeyRing) -> Self {
        Self { ring, mark: None }
    }
}

/// The secrets of a partition; none when it was given none.
pub async fn ff_read_waitpoint_hmac_secrets(
    server: &dyn Server,
    partition: u16,
) -> Result<Option<SigningRing>, ScriptError> {
    let call = ReadWaitpointHmacSecrets { waitpoint_hmac_secrets: secrets_key(partition) }.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    let ring = kept(&mut fields)?;
    let mark = fields.maybe_text()?;
    Ok(ring.map(|ring| SigningRing { ring, mark }))
}

/// Gives a partition its secrets, unless it has some, and says which it has.
pub async fn ff_seed_waitpoint_hmac_secrets(
    server: &dyn Server,
    partition: u16,
    given: &KeyRing,
) -> Result<KeyRing, ScriptError> {
    let waitpoint_hmac_secrets = secrets_key(partition);
    let call = SeedWaitpointHmacSecrets { waitpoint_hmac_secrets, fields: ring_fields(given) }.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    kept(&mut fields)?.ok_or_else(|| ScriptError::parse("a partition has no secrets though it was given some"))
}

fn kept(fields: &mut Fields) -> Result<Option<KeyRing>, ScriptError> {
    let fields = Hash::parse(fields.list()?)?;
    if fields.is_empty() { Ok(None) } else { ring(&fields).map(Some) }
}

fn secrets_key(partition: u16) -> String {
    IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition)).waitpoint_hmac_secrets()
}
