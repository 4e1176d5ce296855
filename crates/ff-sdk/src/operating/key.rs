//! The API keys of a deployment.

use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};
use ff_core::types::KeyId;

use crate::{Client, Error};

impl Client {
    /// Lets somebody in. The caller has drawn the key and hands it to its holder; only its hash is sent and kept.
    pub async fn create_key(&self, args: CreateKeyArgs) -> Result<CreatedKey, Error> {
        Ok(self.backend().create_key(args).await?)
    }

    /// Lets somebody in no more: servers hear nobody under this key a few seconds from now.
    pub async fn revoke_key(&self, key_id: KeyId) -> Result<RevokedKey, Error> {
        Ok(self.backend().revoke_key(RevokeKeyArgs { key_id }).await?)
    }

    /// Every key there ever was, without secrets, by their ids, a page at a time.
    pub async fn keys(&self, args: ListKeysArgs) -> Result<KeysPage, Error> {
        Ok(self.backend().list_keys(args).await?)
    }
}
