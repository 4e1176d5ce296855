//! Operator calls on executions: tags, priority, searches, bulk actions and steps.

mod bulk;
mod search;
mod step;

pub use bulk::{Bulk, BulkReport};
pub use search::{Search, SearchResults};
pub use step::{Fork, Replay};

use std::collections::BTreeSet;

use ff_core::contracts::{ChangePriorityArgs, PriorityChanged, SetTagsArgs, TaggedExecution};
use ff_core::engine_error::Refusal;
use ff_core::execution::Tags;
use ff_core::types::{ExecutionId, Priority, TagKey, TagValue};

use crate::{Client, Error};

impl Client {
    /// Adds a tag to an execution, or changes the value of the tag.
    pub async fn tag(&self, id: &ExecutionId, key: &str, value: &str) -> Result<TaggedExecution, Error> {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        let set: Tags = [tag.map_err(|error| Refusal::invalid("tags", error))?].into_iter().collect();
        self.set_tags(SetTagsArgs { execution_id: *id, set, remove: BTreeSet::new() }).await
    }

    /// Removes a tag from an execution, if it exists.
    pub async fn untag(&self, id: &ExecutionId, key: &str) -> Result<TaggedExecution, Error> {
        let key = TagKey::parse(key).map_err(|error| Refusal::invalid("remove", error))?;
        self.set_tags(SetTagsArgs { execution_id: *id, set: Tags::new(), remove: BTreeSet::from([key]) }).await
    }

    /// Adds and removes tags of an execution in one step.
    pub async fn set_tags(&self, args: SetTagsArgs) -> Result<TaggedExecution, Error> {
        Ok(self.backend().set_tags(args).await?)
    }

    /// Changes the priority of a live execution within its lane: a higher priority runs first.
    pub async fn change_priority(&self, id: &ExecutionId, priority: i64) -> Result<PriorityChanged, Error> {
        let priority = Priority::new(priority).map_err(|error| Refusal::invalid("priority", error))?;
        Ok(self.backend().change_priority(ChangePriorityArgs { execution_id: *id, priority }).await?)
    }
}
