//! API keys.

use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};
use ff_core::types::KeyId;

use crate::{Client, Error};

impl Client {
    /// Creates an API key. The caller generates the key and gives it to its owner; only its hash is sent and stored.
    pub async fn create_key(&self, args: CreateKeyArgs) -> Result<CreatedKey, Error> {
        Ok(self.backend().create_key(args).await?)
    }

    /// Revokes an API key. Servers refuse it within a few seconds.
    pub async fn revoke_key(&self, key_id: KeyId) -> Result<RevokedKey, Error> {
        Ok(self.backend().revoke_key(RevokeKeyArgs { key_id }).await?)
    }

    /// Returns a page of all keys ever created, in the order of their ids and without secrets.
    pub async fn keys(&self, args: ListKeysArgs) -> Result<KeysPage, Error> {
        Ok(self.backend().list_keys(args).await?)
    }
}
