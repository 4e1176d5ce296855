//! The room of API keys, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::ListKeys;
use ff_core::backend::{Answer, KeyRoom};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

use crate::PostgresBackend;

#[async_trait]
impl KeyRoom for PostgresBackend {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        self.writers.asker.ask(args).await
    }

    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.writers.asker.ask(args).await
    }

    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        args.check()?;
        self.readers.read(ListKeys(args)).await
    }
}
