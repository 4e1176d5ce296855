//! Query parameters of the routes of events.

use ff_core::types::{ExecutionId, Namespace};

use crate::query::{Limit, WaitMs, query};

query! {
    /// Parameters of the list of events.
    EventsQuery within namespace {
        /// Cursor from the previous page.
        after: String,
        /// Only this namespace (default: all).
        namespace: Namespace,
        /// Only this execution.
        execution_id: ExecutionId,
        /// Maximum number of results.
        limit: Limit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

query! {
    /// Parameters of the events of an execution.
    ExecutionEventsQuery within namespace {
        /// Cursor from the previous page.
        after: String,
        /// Only this namespace (default: any).
        namespace: Namespace,
        /// Maximum number of results.
        limit: Limit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}
