//! What administrators ask of keys, and what they are told.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{KeyHash, KeyInfo, Role};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::types::{KeyId, KeyName, Namespace, TimestampMs};

/// A new key. Whoever asks has drawn the secret and hands it to its holder; the store is told its hash alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateKeyArgs {
    pub key_id: KeyId,
    pub name: KeyName,
    pub secret_hash: KeyHash,
    pub roles: BTreeSet<Role>,
    /// The tenant it acts as; every tenant when none is named.
    pub namespace: Option<Namespace>,
    /// For how long it is valid; for good when not said.
    pub ttl_ms: Option<u64>,
}

impl CreateKeyArgs {
    /// A key of every tenant manages or operates: whoever hands in or does work does it as somebody. An administrator's
    /// key has no tenant, since what it manages belongs to none.
    pub fn check(&self) -> Result<(), Refusal> {
        let (admin, operate) = (self.roles.contains(&Role::Admin), self.roles.contains(&Role::Operate));
        match &self.namespace {
            _ if self.roles.is_empty() => Err(Refusal::invalid("roles", "must name at least one role")),
            None if !admin && !operate => {
                Err(Refusal::invalid("namespace", "must be named, unless the key may operate or is an administrator's"))
            }
            Some(_) if admin => {
                Err(Refusal::invalid("namespace", "must not be named: an administrator's key is of every namespace"))
            }
            _ => self.check_ttl(),
        }
    }

    fn check_ttl(&self) -> Result<(), Refusal> {
        match self.ttl_ms {
            Some(0) => Err(Refusal::invalid("ttl_ms", "must be at least 1")),
            Some(sent) if sent > limits::SPAN_MAX_MS => {
                Err(Refusal::over_limit(Code::LimitExceeded, "ttl_ms", limits::SPAN_MAX_MS, sent))
            }
            _ => Ok(()),
        }
    }
}

/// The key is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatedKey {
    #[serde(flatten)]
    pub key: KeyInfo,
    /// True when it was there before.
    pub already: bool,
}

/// A key is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeKeyArgs {
    pub key_id: KeyId,
}

/// Nobody is heard under it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevokedKey {
    pub revoked_at: TimestampMs,
    /// True when it was taken back before.
    pub already: bool,
}

/// Which keys to list: all there ever were, by their ids, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListKeysArgs {
    pub after: Option<KeyId>,
    pub limit: usize,
}

impl ListKeysArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            1..=limits::PAGE => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
        }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeysPage {
    pub keys: Vec<KeyInfo>,
    /// Where the next page starts; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<KeyId>,
}

impl KeysPage {
    /// The page that begins with these keys, of which there may be one more than belong to it.
    pub fn of(mut keys: Vec<KeyInfo>, limit: usize) -> Self {
        let more = keys.len() > limit;
        keys.truncate(limit);
        let next = keys.last().map(|last| last.key_id.clone()).filter(|_| more);
        Self { keys, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(roles: &[Role], namespace: Option<&str>) -> CreateKeyArgs {
        CreateKeyArgs {
            key_id: KeyId::parse("a1").unwrap(),
            name: KeyName::parse("ci").unwrap(),
            secret_hash: KeyHash::of(b"secret"),
            roles: roles.iter().copied().collect(),
            namespace: namespace.map(|name| Namespace::parse(name).unwrap()),
            ttl_ms: None,
        }
    }

    #[test]
    fn whoever_works_does_it_as_somebody_and_an_administrator_as_nobody() {
        let refused = |args: CreateKeyArgs| args.check().err().and_then(|refusal| refusal.field);
        for role in [Role::Submit, Role::Work, Role::Signal] {
            assert_eq!(refused(args(&[role], Some("acme"))), None);
            assert_eq!(refused(args(&[role], None)).as_deref(), Some("namespace"), "{role}");
            assert_eq!(refused(args(&[role, Role::Operate], None)), None);
        }
        assert_eq!(refused(args(&[Role::Operate], None)), None);
        assert_eq!(refused(args(&[Role::Operate], Some("acme"))), None);
        assert_eq!(refused(args(&[Role::Admin], None)), None);
        assert_eq!(refused(args(&[Role::Admin, Role::Submit], Some("acme"))).as_deref(), Some("namespace"));
        assert_eq!(refused(args(&[], Some("acme"))).as_deref(), Some("roles"));
    }

    #[test]
    fn a_key_is_valid_for_a_moment_at_least_and_ten_years_at_most() {
        let lasting = |ttl_ms| CreateKeyArgs { ttl_ms: Some(ttl_ms), ..args(&[Role::Admin], None) }.check();
        assert_eq!((lasting(1), lasting(limits::SPAN_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(lasting(0).unwrap_err().field.as_deref(), Some("ttl_ms"));
        let (max, past) = (limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1);
        assert_eq!(lasting(past).unwrap_err().limit, Some((max, past)));
    }
}
