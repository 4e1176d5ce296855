//! Grants on the wire.

use ff_core::contracts::GrantInfo;
use serde::{Deserialize, Serialize};

/// One page of assigned executions.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grants {
    pub grants: Vec<GrantInfo>,
    /// The `cursor` of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
