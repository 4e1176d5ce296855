//! API keys on the wire. A secret that the server drew comes out once; one that the caller drew never travels.

use std::collections::BTreeSet;

use ff_core::api_key::{KeyHash, Role, SecretKey};
use ff_core::contracts::{CreateKeyArgs, CreatedKey};
use ff_core::engine_error::Refusal;
use ff_core::entropy::Entropy;
use ff_core::types::{KeyId, KeyName, Namespace};
use serde::{Deserialize, Serialize};

use crate::RedactedText;

/// Creates an API key.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    pub name: KeyName,
    pub roles: BTreeSet<Role>,
    /// The tenant it acts as; every tenant when none is named, which is for those who operate or administer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// For how long it is valid; for good when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The id of a key the caller drew itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<KeyId>,
    /// The SHA-256 of the secret the caller drew itself, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hash: Option<KeyHash>,
}

/// A key that was created.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewKey {
    #[serde(flatten)]
    pub created: CreatedKey,
    /// The key itself, when the server drew it. It is told this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<RedactedText>,
}

/// A key is taken back.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {}

impl CreateKey {
    pub fn of(args: CreateKeyArgs) -> Self {
        Self {
            name: args.name,
            roles: args.roles,
            namespace: args.namespace,
            ttl_ms: args.ttl_ms,
            key_id: Some(args.key_id),
            secret_hash: Some(args.secret_hash),
        }
    }

    /// The arguments; for a caller that brings no key, with a new random one.
    pub fn into_args(self, entropy: &impl Entropy) -> Result<(CreateKeyArgs, Option<SecretKey>), Refusal> {
        let (key_id, secret_hash, drawn) = match (self.key_id, self.secret_hash) {
            (Some(id), Some(hash)) => (id, hash, None),
            (None, None) => {
                let key = SecretKey::draw(entropy);
                (key.id().clone(), key.hash(), Some(key))
            }
            (Some(_), None) => return Err(Refusal::invalid("secret_hash", "must come with key_id")),
            (None, Some(_)) => return Err(Refusal::invalid("key_id", "must come with secret_hash")),
        };
        let (name, roles, namespace, ttl_ms) = (self.name, self.roles, self.namespace, self.ttl_ms);
        let args = CreateKeyArgs { key_id, name, secret_hash, roles, namespace, ttl_ms };
        args.check()?;
        Ok((args, drawn))
    }
}

impl NewKey {
    /// The answer to the creator of a key, with the key if the server drew it.
    pub fn of(created: CreatedKey, drawn: Option<&SecretKey>) -> Self {
        Self { created, key: drawn.map(|key| RedactedText(key.expose())) }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::entropy::SystemEntropy;
    use ff_core::json;

    use super::*;

    #[test]
    fn a_key_its_caller_drew_arrives_as_it_was_sent_and_its_secret_does_not_travel() {
        let key = SecretKey::draw(&SystemEntropy);
        let args = CreateKeyArgs {
            key_id: key.id().clone(),
            name: KeyName::parse("ci").unwrap(),
            secret_hash: key.hash(),
            roles: [Role::Submit, Role::Work].into(),
            namespace: Some(Namespace::parse("acme").unwrap()),
            ttl_ms: Some(5),
        };
        let text = serde_json::to_string(&CreateKey::of(args.clone())).unwrap();
        let (read, drawn) = json::read::<CreateKey>(text.as_bytes()).unwrap().into_args(&SystemEntropy).unwrap();
        assert_eq!((read, drawn.is_none()), (args, true), "{text}");
        assert!(!text.contains(key.expose().rsplit('_').next().unwrap()));
    }

    #[test]
    fn a_key_is_drawn_for_who_brings_none_and_half_a_key_is_refused() {
        let read = |text: &str| json::read::<CreateKey>(text.as_bytes()).unwrap().into_args(&SystemEntropy);
        let (args, drawn) = read(r#"{"name":"ci","roles":["admin"]}"#).unwrap();
        let drawn = drawn.unwrap();
        assert_eq!((&args.key_id, args.secret_hash), (drawn.id(), drawn.hash()));
        let refused = read(r#"{"name":"ci","roles":["admin"],"key_id":"a1"}"#).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("secret_hash"));
    }
}
