//! Creating: an administrator lets somebody in.

use super::contracts::{CreateKeyArgs, CreatedKey};
use super::{ApiKey, KeyInfo};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, key_partition};
use crate::types::TimestampMs;
use crate::view::{Stop, View};

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

/// Enters a key. Asked again for the same key, it answers as the first time; an id that stands for another is refused.
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
    use crate::key::{KeyHash, Role};
    use crate::samples::at;
    use crate::types::{KeyId, KeyName};

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
}
