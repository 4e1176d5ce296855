//! What an operator changes: labels and priority of an execution, API keys; and the workers that are there.

mod bulk;
mod search;

pub use bulk::{Bulk, BulkReport};
pub use search::{Search, SearchResults};

use std::collections::BTreeSet;

use ff_core::contracts::{
    ChangePriorityArgs, CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, ListWorkersArgs, PriorityChanged,
    RevokeKeyArgs, RevokedKey, SetTagsArgs, Tagged, WorkersPage,
};
use ff_core::engine_error::Refusal;
use ff_core::execution::Tags;
use ff_core::types::{ExecutionId, KeyId, Priority, TagKey, TagValue};

use crate::{Client, Error};

impl Client {
    /// Puts a label on an execution, beside those it has.
    pub async fn tag(&self, id: &ExecutionId, key: &str, value: &str) -> Result<Tagged, Error> {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        let set: Tags = [tag.map_err(|error| Refusal::invalid("tags", error))?].into_iter().collect();
        self.set_tags(SetTagsArgs { execution_id: *id, set, remove: BTreeSet::new() }).await
    }

    /// Takes a label from an execution, if it has it.
    pub async fn untag(&self, id: &ExecutionId, key: &str) -> Result<Tagged, Error> {
        let key = TagKey::parse(key).map_err(|error| Refusal::invalid("remove", error))?;
        self.set_tags(SetTagsArgs { execution_id: *id, set: Tags::new(), remove: BTreeSet::from([key]) }).await
    }

    /// Puts labels on an execution and takes others away, in one step.
    pub async fn set_tags(&self, args: SetTagsArgs) -> Result<Tagged, Error> {
        Ok(self.backend().set_tags(args).await?)
    }

    /// Has a live execution go before or after others of its lane.
    pub async fn change_priority(&self, id: &ExecutionId, priority: i64) -> Result<PriorityChanged, Error> {
        let priority = Priority::new(priority).map_err(|error| Refusal::invalid("priority", error))?;
        Ok(self.backend().change_priority(ChangePriorityArgs { execution_id: *id, priority }).await?)
    }
}

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

impl Client {
    /// The worker instances that say they are there, by their ids, a page at a time.
    pub async fn workers(&self, args: ListWorkersArgs) -> Result<WorkersPage, Error> {
        Ok(self.backend().list_workers(args).await?)
    }
}
