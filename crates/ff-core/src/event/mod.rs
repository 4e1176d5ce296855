//! Events as values. A rule produces them; a store records them in the feed of their partition while the feed is read.

pub mod contracts;
mod feed;
mod follow;

pub use feed::{EncryptedPositions, EventCursor, EventRecord, EventsPart, Feed};
pub use follow::follow;

use serde::{Deserialize, Serialize};

use crate::execution::Outcome;
use crate::state::BlockingReason;
use crate::suspension::ResumedBy;
use crate::types::{AttemptIndex, BudgetId, ExecutionId, Priority, TimestampMs};

/// An event of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub execution_id: ExecutionId,
    pub at: TimestampMs,
    #[serde(flatten)]
    pub what: EventKind,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    Submitted,
    Promoted,
    Started {
        attempt: AttemptIndex,
    },
    Resumed {
        attempt: AttemptIndex,
    },
    Delayed {
        until: TimestampMs,
    },
    RetryScheduled {
        at: TimestampMs,
    },
    LeaseExpired,
    LeaseRevoked,
    Suspended,
    /// It waits for the members it added to its flow.
    WaitsForChildren,
    /// It is blocked although otherwise ready. A hold is reported when it is placed, even if it takes effect later.
    Blocked {
        reason: BlockingReason,
    },
    /// It is no longer blocked; for example, its upstreams have ended.
    Unblocked {
        reason: BlockingReason,
    },
    Released {
        by: ResumedBy,
    },
    Escalated,
    WaitpointExpired,
    Finished {
        outcome: Outcome,
    },
    Replayed,
    /// Its priority changed.
    Prioritised {
        from: Priority,
        to: Priority,
    },
    /// Its tags changed.
    Tagged,
    /// Its usage report was the first in the period to exceed a soft limit of this budget.
    SoftLimitExceeded {
        budget_id: BudgetId,
    },
}

impl Event {
    pub(crate) fn new(execution: &ExecutionId, at: TimestampMs, what: EventKind) -> Self {
        Self { execution_id: *execution, at, what }
    }
}
