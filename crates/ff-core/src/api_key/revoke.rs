//! Revoking an API key.

use serde::{Deserialize, Serialize};

use super::ApiKey;
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, key_partition};
use crate::rule::view::{Stop, View};
use crate::types::{KeyId, TimestampMs};

/// Revokes an API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeKeyArgs {
    pub key_id: KeyId,
}

/// Requests with this key are refused from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RevokedKey {
    pub revoked_at: TimestampMs,
    /// True when it was already revoked.
    pub already: bool,
}

impl Command for RevokeKeyArgs {
    type Reply = RevokedKey;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        key_partition(&self.key_id, partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RevokedKey>, Stop> {
        let (revoked, key) = revoke(view.api_key(&self.key_id)?, at.now)?;
        Ok(Decision::about_key(revoked, key))
    }
}

/// Revokes a key permanently. Its record stays, so that its id is never used again.
pub fn revoke(known: Option<&ApiKey>, now: TimestampMs) -> Result<(RevokedKey, Option<ApiKey>), Refusal> {
    let known = known.ok_or_else(|| Code::NotFound.refusal().at("key_id").because("there is no key with this id"))?;
    if let Some(revoked_at) = known.info.revoked_at {
        return Ok((RevokedKey { revoked_at, already: true }, None));
    }
    let mut key = known.clone();
    key.info.revoked_at = Some(now);
    Ok((RevokedKey { revoked_at: now, already: false }, Some(key)))
}
