//! Labels put on an execution and taken away, on the wire.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::contracts::SetTagsArgs;
use ff_core::engine_error::Refusal;
use ff_core::types::{ExecutionId, TagKey, TagValue};
use serde::{Deserialize, Serialize};

use crate::execution::submit::tags;

/// Adds and removes labels of an execution.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetTags {
    /// Labels to put on it, beside those it has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, TagValue>,
    /// Labels to take away.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub remove: BTreeSet<TagKey>,
}

impl SetTags {
    pub fn of(args: SetTagsArgs) -> Self {
        Self { tags: args.set.into_iter().map(|(key, value)| (key.to_string(), value)).collect(), remove: args.remove }
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<SetTagsArgs, Refusal> {
        Ok(SetTagsArgs { execution_id, set: tags(self.tags)?, remove: self.remove })
    }
}
