//! The room of API keys, over the model.

use std::ops::Bound;

use async_trait::async_trait;
use ff_core::backend::{Answer, KeyRoom};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

use crate::MemoryBackend;

#[async_trait]
impl KeyRoom for MemoryBackend {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        self.ask(args)
    }

    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.ask(args)
    }

    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        args.check()?;
        let from = args.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let model = self.model()?;
        let keys = model.api_keys().range((from, Bound::Unbounded)).take(args.limit + 1);
        Ok(KeysPage::of(keys.map(|(_, key)| key.info.clone()).collect(), args.limit))
    }
}
