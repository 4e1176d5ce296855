//! The domain of API keys, over HTTP.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};

use super::HttpConnection;

impl Handle<CreateKeyArgs, CreatedKey> for HttpConnection {
    async fn handle(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        let new: ff_api::NewKey = self.post(&["keys"], &ff_api::CreateKey::of(args), 0).await?;
        Ok(new.created)
    }
}

impl Handle<RevokeKeyArgs, RevokedKey> for HttpConnection {
    async fn handle(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.post(&["keys", args.key_id.as_str(), "revoke"], &ff_api::RevokeKey {}, 0).await
    }
}

impl Handle<ListKeysArgs, KeysPage> for HttpConnection {
    async fn handle(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["keys"], &query, 0).await
    }
}
