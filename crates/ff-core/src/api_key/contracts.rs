//! Arguments and replies of the administration of API keys.

use serde::{Deserialize, Serialize};

use super::KeyInfo;
use crate::types::KeyId;

pub use super::create::{CreateKeyArgs, CreatedKey};
pub use super::revoke::{RevokeKeyArgs, RevokedKey};

/// Request for a page of all keys ever created, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListKeysArgs {
    pub after: Option<KeyId>,
    pub limit: usize,
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeysPage {
    pub keys: Vec<KeyInfo>,
    /// Start of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<KeyId>,
}

impl KeysPage {
    /// Builds a page from the first keys; one key more than `limit` shows that there is another page.
    pub fn of(mut keys: Vec<KeyInfo>, limit: usize) -> Self {
        let more = keys.len() > limit;
        keys.truncate(limit);
        let next = keys.last().map(|last| last.key_id.clone()).filter(|_| more);
        Self { keys, next }
    }
}
