//! The domain of API keys, on Valkey. Each key is one hash, and each of its steps is one plain command. A field is set
//! only once, so the first writer decides.

use ff_core::api_key::{self, ApiKey};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};
use ff_core::engine_error::EngineError;
use ff_core::keys::{api_key_key, api_keys_index_key};
use ff_core::partition::key_partition;
use ff_core::types::{KeyId, TimestampMs};
use ff_script::engine::ff_now;
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::cmd;

use crate::ValkeyBackend;
use crate::call::corrupt;

/// Maximum number of keys read at the same time.
const AT_ONCE: usize = 64;

/// The field with the created key, as JSON.
const RECORD: &str = "record";

/// The field with the time of revocation.
const REVOKED_AT: &str = "revoked_at";

impl Handle<CreateKeyArgs, CreatedKey> for ValkeyBackend {
    async fn handle(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        let id = &args.key_id;
        let known = self.api_key(id).await?;
        let (created, key) = api_key::create(known.as_ref(), &args, self.time_of_key(id).await?)?;
        let Some(key) = key else { return Ok(created) };
        // Write the directory first, so that no valid key is missing from listings.
        let index = api_keys_index_key();
        self.calls.plain(&index, cmd("SADD").arg(&index).arg(id.as_str())).await?;
        if self.set_once(id, RECORD, &written(&key)?).await? {
            return Ok(created);
        }
        let first = self.api_key(id).await?;
        Ok(api_key::create(first.as_ref(), &args, key.info.created_at)?.0)
    }
}

impl Handle<RevokeKeyArgs, RevokedKey> for ValkeyBackend {
    async fn handle(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        let id = &args.key_id;
        let now = self.time_of_key(id).await?;
        let (revoked, key) = api_key::revoke(self.api_key(id).await?.as_ref(), now)?;
        if key.is_none() || self.set_once(id, REVOKED_AT, &now.to_string()).await? {
            return Ok(revoked);
        }
        Ok(api_key::revoke(self.api_key(id).await?.as_ref(), now)?.0)
    }
}

impl Handle<ListKeysArgs, KeysPage> for ValkeyBackend {
    async fn handle(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        let mut ids: Vec<KeyId> =
            self.calls.members(&api_keys_index_key(), "names something that is not an API key").await?;
        ids.retain(|id| args.after.as_ref().is_none_or(|after| id > after));
        let mut read = stream::iter(ids).map(|id| async move { self.api_key(&id).await }).buffered(AT_ONCE);
        let mut keys = Vec::new();
        while keys.len() <= args.limit
            && let Some(key) = read.try_next().await?
        {
            // A listed key without a record was never created, because its creation was interrupted.
            keys.extend(key.map(|key| key.info));
        }
        Ok(KeysPage::of(keys, args.limit))
    }
}

impl ValkeyBackend {
    /// Returns a key, if it was created.
    pub(crate) async fn api_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        let name = api_key_key(id);
        let (read, wrong) =
            (cmd("HMGET").arg(&name).arg(RECORD).arg(REVOKED_AT).clone(), "is not the hash of an API key");
        let (record, revoked_at): (Option<String>, Option<i64>) = self.calls.read(&name, &read, wrong).await?;
        let Some(record) = record else { return Ok(None) };
        let mut key: ApiKey = serde_json::from_str(&record).map_err(|_| corrupt(&name, wrong))?;
        key.info.revoked_at = revoked_at.map(TimestampMs);
        Ok(Some(key))
    }

    /// Sets a field of a key unless it is set, and returns whether it was unset.
    async fn set_once(&self, id: &KeyId, field: &str, value: &str) -> Answer<bool> {
        let name = api_key_key(id);
        self.calls.read(&name, cmd("HSETNX").arg(&name).arg(field).arg(value), "is not a hash").await
    }

    /// Returns the time on the partition that orders the changes of a key.
    async fn time_of_key(&self, id: &KeyId) -> Answer<TimestampMs> {
        Ok(ff_now(&*self.calls, key_partition(id, &self.partitions)).await?)
    }
}

fn written(key: &ApiKey) -> Answer<String> {
    serde_json::to_string(key).map_err(|error| EngineError::Corrupt(format!("an API key cannot be written: {error}")))
}
