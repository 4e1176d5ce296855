//! The room of API keys.

use async_trait::async_trait;

use super::Answer;
use crate::key::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

/// What administrators ask of keys. Keys are the deployment's: all servers over one store know the same.
#[async_trait]
pub trait KeyRoom: Send + Sync {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey>;

    /// Takes a key back; refused as `not_found` when there is none.
    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey>;

    /// Every key there ever was, without what is kept of its secret.
    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage>;
}
