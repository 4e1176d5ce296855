//! Grants on the wire.

use ff_core::contracts::GrantInfo;
use ff_core::types::{Namespace, WorkerInstanceId};
use serde::{Deserialize, Serialize};

use crate::query::{Limit, query};

/// One page of assigned executions.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grants {
    pub grants: Vec<GrantInfo>,
    /// The `cursor` of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

query! {
    /// Parameters of the list of assigned executions.
    GrantsQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Only executions assigned to this worker instance; a page may then have fewer.
        worker: WorkerInstanceId,
        /// Cursor from the previous page.
        cursor: String,
        /// Maximum number of results.
        limit: Limit,
    }
}
