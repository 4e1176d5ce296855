//! The room of API keys, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, KeyRoom};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

use super::read::ListKeys;
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> KeyRoom for SqlStore<D> {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        self.writer().ask(args).await
    }

    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.writer().ask(args).await
    }

    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        args.check()?;
        self.read(ListKeys(args)).await
    }
}
