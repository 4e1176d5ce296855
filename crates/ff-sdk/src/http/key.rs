//! The room of API keys, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, KeyRoom};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

use super::HttpBackend;

#[async_trait]
impl KeyRoom for HttpBackend {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        args.check()?;
        let new: ff_api::NewKey = self.post(&["keys"], &ff_api::CreateKey::of(args), 0).await?;
        Ok(new.created)
    }

    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.post(&["keys", args.key_id.as_str(), "revoke"], &ff_api::RevokeKey {}, 0).await
    }

    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["keys"], &query, 0).await
    }
}
