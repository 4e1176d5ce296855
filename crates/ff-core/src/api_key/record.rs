//! The record of a key.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{KeyHash, Role};
use crate::types::{KeyId, KeyName, Namespace, TimestampMs};

/// A key as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApiKey {
    #[serde(flatten)]
    pub info: KeyInfo,
    pub secret_hash: KeyHash,
}

/// An API key, without the hash of its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeyInfo {
    pub key_id: KeyId,
    /// Name of the key.
    pub name: KeyName,
    pub roles: BTreeSet<Role>,
    /// Namespace of the key; all namespaces when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    pub created_at: TimestampMs,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<TimestampMs>,
}

impl KeyInfo {
    /// Returns whether the key has the rights of a role.
    pub fn may(&self, role: Role) -> bool {
        self.roles.iter().any(|own| own.implies(role))
    }

    pub fn has_expired(&self, now: TimestampMs) -> bool {
        self.expires_at.is_some_and(|at| now >= at)
    }

    /// Returns whether requests with this key are accepted.
    pub fn is_valid(&self, now: TimestampMs) -> bool {
        self.revoked_at.is_none() && !self.has_expired(now)
    }
}
