//! Grants on the wire.

use ff_core::contracts::GrantInfo;
use ff_core::types::{Namespace, WorkerInstanceId};

use crate::object::answers;
use crate::query::{Limit, query};

answers! {
    /// One page of assigned executions.
    pub struct Grants {
        pub grants: Vec<GrantInfo>,
        /// The `cursor` of the next page; absent on the last one.
        pub next_cursor: Option<String>,
    }
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
