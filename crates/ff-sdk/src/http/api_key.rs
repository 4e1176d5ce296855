//! The domain of API keys, over HTTP.

use ff_api::{KeysQuery, Limit};
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
        let query = KeysQuery { after: args.after, limit: Some(Limit(args.limit)) };
        self.get(&["keys"], query, 0).await
    }
}
