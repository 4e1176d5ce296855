//! Which waiting executions claims want.

use ff_core::types::{Kind, LaneId};
use ff_core::view::Eligible;

/// A lane on a partition, and the kinds wanted of it; any when none is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(crate) partition: u16,
    pub(crate) lane: LaneId,
    pub(crate) kinds: Vec<Kind>,
}

impl Wanted {
    /// What a query wants, the same however it names its kinds.
    pub(crate) fn by(query: &Eligible) -> Self {
        let mut kinds = query.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        Self { partition: query.partition, lane: query.lane.clone(), kinds }
    }

    pub(crate) fn covers(&self, lane: &LaneId, kind: &Kind) -> bool {
        self.lane == *lane && (self.kinds.is_empty() || self.kinds.binary_search(kind).is_ok())
    }
}
