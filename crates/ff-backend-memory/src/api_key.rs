//! The domain of API keys, over the model.

use std::ops::Bound;

use ff_core::api_key::ApiKey;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{KeysPage, ListKeysArgs};
use ff_core::operation::query::FindKey;

use crate::{MemoryBackend, reads};

impl Handle<ListKeysArgs, KeysPage> for MemoryBackend {
    async fn handle(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        let from = args.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let model = self.model()?;
        let keys = model.api_keys().range((from, Bound::Unbounded)).take(args.limit + 1);
        Ok(KeysPage::of(keys.map(|(_, key)| key.info.clone()).collect(), args.limit))
    }
}

reads! {
    FindKey => Option<ApiKey>: |store, query| store.model()?.api_keys().get(&query.key_id).cloned();
}
