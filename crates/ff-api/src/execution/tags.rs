//! Changes of an execution's tags, on the wire.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::contracts::SetTagsArgs;
use ff_core::engine_error::Refusal;
use ff_core::types::{ExecutionId, TagKey, TagValue};

use crate::execution::submit::tags;
use crate::object::requests;

requests! {
    /// Adds and removes tags of an execution.
    pub struct SetTags {
        /// Tags to add or change.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub tags: BTreeMap<String, TagValue>,
        /// Tags to remove.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub remove: BTreeSet<TagKey>,
    }
}

impl SetTags {
    pub fn of(args: SetTagsArgs) -> Self {
        Self { tags: args.set.into_iter().map(|(key, value)| (key.to_string(), value)).collect(), remove: args.remove }
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<SetTagsArgs, Refusal> {
        Ok(SetTagsArgs { execution_id, set: tags(self.tags)?, remove: self.remove })
    }
}
