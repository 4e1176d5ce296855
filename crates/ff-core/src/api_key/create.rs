//! Creating an API key.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ApiKey, KeyHash, KeyInfo, Role};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, key_partition};
use crate::rule::view::{Stop, View};
use crate::types::{KeyId, KeyName, Namespace, TimestampMs};

/// Creates an API key. The caller generates the secret and gives it to its owner; the store gets only its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateKeyArgs {
    pub key_id: KeyId,
    pub name: KeyName,
    pub secret_hash: KeyHash,
    pub roles: BTreeSet<Role>,
    /// Namespace of the key; all namespaces when absent.
    pub namespace: Option<Namespace>,
    /// How long it is valid; forever when absent.
    pub ttl_ms: Option<u64>,
}

impl CreateKeyArgs {
    /// Refuses a key without roles and an invalid lifetime. A key without a namespace must have the role `operate` or
    /// `admin`, because submitting, working and signalling need a namespace. An administrator's key must not have one:
    /// it is valid for all namespaces.
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
            Some(sent) => check_limit(Code::LimitExceeded, "ttl_ms", limits::SPAN_MAX_MS, sent),
            None => Ok(()),
        }
    }
}

/// The key is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CreatedKey {
    #[serde(flatten)]
    pub key: KeyInfo,
    /// True when it already existed.
    pub already: bool,
}

impl Command for CreateKeyArgs {
    type Reply = CreatedKey;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        key_partition(&self.key_id, partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<CreatedKey>, Stop> {
        let (created, key) = create(view.api_key(&self.key_id)?, self, at.now)?;
        Ok(Decision::about_key(created, key))
    }
}

/// Creates a key. A repeated request returns the existing key; an id that belongs to another key is refused.
pub fn create(
    known: Option<&ApiKey>,
    args: &CreateKeyArgs,
    now: TimestampMs,
) -> Result<(CreatedKey, Option<ApiKey>), Refusal> {
    args.check()?;
    if let Some(known) = known {
        if !is_same(known, args) {
            let refusal = Code::IdempotencyConflict.refusal().at("key_id");
            return Err(refusal.because("is the id of another key"));
        }
        return Ok((CreatedKey { key: known.info.clone(), already: true }, None));
    }
    let info = KeyInfo {
        key_id: args.key_id.clone(),
        name: args.name.clone(),
        roles: args.roles.clone(),
        namespace: args.namespace.clone(),
        created_at: now,
        expires_at: args.ttl_ms.map(|ttl_ms| now + ttl_ms),
        revoked_at: None,
    };
    let key = ApiKey { info, secret_hash: args.secret_hash };
    Ok((CreatedKey { key: key.info.clone(), already: false }, Some(key)))
}

fn is_same(known: &ApiKey, args: &CreateKeyArgs) -> bool {
    let expires_at = args.ttl_ms.map(|ttl_ms| known.info.created_at + ttl_ms);
    known.secret_hash == args.secret_hash
        && (&known.info.name, &known.info.roles) == (&args.name, &args.roles)
        && (&known.info.namespace, known.info.expires_at) == (&args.namespace, expires_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;

    fn args() -> CreateKeyArgs {
        CreateKeyArgs {
            key_id: KeyId::parse("a1").unwrap(),
            name: KeyName::parse("ci").unwrap(),
            secret_hash: KeyHash::of(b"secret"),
            roles: [Role::Operate].into(),
            namespace: None,
            ttl_ms: Some(100),
        }
    }

    #[test]
    fn creating_twice_is_one_key() {
        let (created, key) = create(None, &args(), at(5)).unwrap();
        assert_eq!((created.already, created.key.expires_at), (false, Some(at(105))));
        let key = key.unwrap();
        assert_eq!(key.info, created.key);
        let (again, change) = create(Some(&key), &args(), at(50)).unwrap();
        assert_eq!((again.key, again.already, change), (created.key, true, None));
    }

    #[test]
    fn an_id_stands_for_one_key() {
        let key = create(None, &args(), at(5)).unwrap().1.unwrap();
        for other in [
            CreateKeyArgs { secret_hash: KeyHash::of(b"another"), ..args() },
            CreateKeyArgs { roles: [Role::Admin].into(), ..args() },
            CreateKeyArgs { name: KeyName::parse("cd").unwrap(), ..args() },
            CreateKeyArgs { ttl_ms: None, ..args() },
        ] {
            assert_eq!(create(Some(&key), &other, at(6)).unwrap_err().code, Code::IdempotencyConflict);
        }
    }

    fn with(roles: &[Role], namespace: Option<&str>) -> CreateKeyArgs {
        let namespace = namespace.map(|name| Namespace::parse(name).unwrap());
        CreateKeyArgs { roles: roles.iter().copied().collect(), namespace, ttl_ms: None, ..args() }
    }

    #[test]
    fn an_api_key_needs_a_namespace_to_work_and_none_to_administer() {
        let refused = |args: CreateKeyArgs| args.check().err().and_then(|refusal| refusal.field);
        for role in [Role::Submit, Role::Work, Role::Signal] {
            assert_eq!(refused(with(&[role], Some("acme"))), None);
            assert_eq!(refused(with(&[role], None)).as_deref(), Some("namespace"), "{role}");
            assert_eq!(refused(with(&[role, Role::Operate], None)), None);
        }
        assert_eq!(refused(with(&[Role::Operate], None)), None);
        assert_eq!(refused(with(&[Role::Operate], Some("acme"))), None);
        assert_eq!(refused(with(&[Role::Admin], None)), None);
        assert_eq!(refused(with(&[Role::Admin, Role::Submit], Some("acme"))).as_deref(), Some("namespace"));
        assert_eq!(refused(with(&[], Some("acme"))).as_deref(), Some("roles"));
    }

    #[test]
    fn an_api_key_lives_from_one_millisecond_to_ten_years() {
        let lasting = |ttl_ms| CreateKeyArgs { ttl_ms: Some(ttl_ms), ..with(&[Role::Admin], None) }.check();
        assert_eq!((lasting(1), lasting(limits::SPAN_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(lasting(0).unwrap_err().field.as_deref(), Some("ttl_ms"));
        let (max, past) = (limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1);
        assert_eq!(lasting(past).unwrap_err().limit, Some((max, past)));
    }
}
