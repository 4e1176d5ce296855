//! Which waiting executions claims want.

use ff_core::index::{Score, aged_score, eligible_score};
use ff_core::types::{Kind, LaneId, Priority, TimestampMs};
use ff_core::view::Eligible;

/// A lane on a partition, and the kinds wanted of it; any when none is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wanted {
    pub(crate) partition: u16,
    pub(crate) lane: LaneId,
    pub(crate) kinds: Vec<Kind>,
    /// How long a wait weighs as much as one step of priority; none when priority alone decides.
    pub(crate) ageing_ms: Option<u64>,
}

impl Wanted {
    /// What a query wants, the same however it names its kinds.
    pub(crate) fn by(query: &Eligible) -> Self {
        let mut kinds = query.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        Self { partition: query.partition, lane: query.lane.clone(), kinds, ageing_ms: query.ageing_ms }
    }

    /// What decides who goes first.
    pub(crate) fn score(&self, priority: Priority, created_at: TimestampMs) -> Score {
        match self.ageing_ms {
            Some(ageing_ms) => aged_score(priority, created_at, ageing_ms),
            None => eligible_score(priority, created_at),
        }
    }

    pub(crate) fn covers(&self, lane: &LaneId, kind: &Kind) -> bool {
        self.lane == *lane && (self.kinds.is_empty() || self.kinds.binary_search(kind).is_ok())
    }
}
