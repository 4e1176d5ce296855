//! Query parameters of the routes of executions.

use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{Kind, LaneId, Namespace, TimestampMs};

use crate::Encoding;
use crate::query::{Limit, WaitMs, query};

query! {
    /// Parameters of the list of executions.
    ExecutionsQuery within namespace with tags "Only executions with this tag; the parameter name ends in its key. At most 8." {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Only this lane.
        lane: LaneId,
        /// Only this state.
        state: PublicState,
        /// Only executions blocked for this reason: `waiting_for_capable_worker`, `waiting_for_quota`, `waiting_for_budget`,
        /// `paused_by_operator` or `waiting_for_locality_match`.
        blocking_reason: BlockingReason,
        /// Only this kind.
        kind: Kind,
        /// Created at this time or later.
        created_from: TimestampMs,
        /// Created before this time.
        created_until: TimestampMs,
        /// Cursor from the previous page.
        cursor: String,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of a read of a payload.
    PayloadQuery {
        /// Return JSON instead, in this encoding.
        encoding: Encoding,
    }
}

query! {
    /// Parameters of a read of a result.
    ResultQuery {
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
        /// How payloads are encoded.
        encoding: Encoding,
    }
}
