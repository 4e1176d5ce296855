//! An operator's calls on executions: labels and priority; searches, and actions on their results; steps.

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
    /// Puts a label on an execution, beside those it has.
    pub async fn tag(&self, id: &ExecutionId, key: &str, value: &str) -> Result<TaggedExecution, Error> {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        let set: Tags = [tag.map_err(|error| Refusal::invalid("tags", error))?].into_iter().collect();
        self.set_tags(SetTagsArgs { execution_id: *id, set, remove: BTreeSet::new() }).await
    }

    /// Takes a label from an execution, if it has it.
    pub async fn untag(&self, id: &ExecutionId, key: &str) -> Result<TaggedExecution, Error> {
        let key = TagKey::parse(key).map_err(|error| Refusal::invalid("remove", error))?;
        self.set_tags(SetTagsArgs { execution_id: *id, set: Tags::new(), remove: BTreeSet::from([key]) }).await
    }

    /// Puts labels on an execution and takes others away, in one step.
    pub async fn set_tags(&self, args: SetTagsArgs) -> Result<TaggedExecution, Error> {
        Ok(self.backend().set_tags(args).await?)
    }

    /// Has a live execution go before or after others of its lane.
    pub async fn change_priority(&self, id: &ExecutionId, priority: i64) -> Result<PriorityChanged, Error> {
        let priority = Priority::new(priority).map_err(|error| Refusal::invalid("priority", error))?;
        Ok(self.backend().change_priority(ChangePriorityArgs { execution_id: *id, priority }).await?)
    }
}
