//! The number of executions to claim from each partition, so that one answer has neither too many executions nor too many bytes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::lease::contracts::ClaimedExecution;
use ff_core::limits;
use ff_core::types::LaneId;

/// Maximum number of partitions in one claim.
const AT_ONCE: usize = 8;

/// Maximum number of executions claimed from one partition before another partition is claimed from as well.
const DEEPEST: usize = 16;

/// Divides `executions` among `partitions`. The first, better ones get the remainder.
pub(crate) fn shares(executions: usize, partitions: usize) -> impl Iterator<Item = usize> {
    let (each, over) = (executions / partitions.max(1), executions % partitions.max(1));
    (0..partitions).map(move |nth| each + usize::from(nth < over))
}

/// The number of executions a partition had recently. Where partitions have many, claiming many from one costs the store far less
/// than claiming one from many. Where they have few, a claim covers many partitions.
pub(crate) struct Depth(AtomicUsize);

impl Default for Depth {
    fn default() -> Self {
        Self(AtomicUsize::new(1))
    }
}

impl Depth {
    /// Returns the number of partitions to claim `executions` executions from.
    pub(crate) fn partitions(&self, executions: usize) -> usize {
        (executions / self.0.load(Ordering::Relaxed)).clamp(1, AT_ONCE)
    }

    /// Records how many executions a partition gave, and whether it has more. A partition that gave few may have been claimed from
    /// just before, and says little about the others.
    pub(crate) fn saw(&self, executions: usize, has_more: bool) {
        let known = self.0.load(Ordering::Relaxed);
        let depth = if has_more { known.max(executions) * 2 } else { executions.max(known - known.div_ceil(4)) };
        self.0.store(depth.clamp(1, DEEPEST), Ordering::Relaxed);
    }
}

/// The recent payload size of each lane. A store learns the size of a payload only when it claims it, so concurrent claims could
/// together exceed the limit of one answer; this bounds them.
#[derive(Default)]
pub(crate) struct Sizes(Mutex<HashMap<LaneId, usize>>);

impl Sizes {
    /// Returns the number of executions of a lane that fit into `bytes`, by the recent sizes.
    pub(crate) fn fitting(&self, lane: &LaneId, bytes: usize) -> usize {
        let size = self.sizes().get(lane).copied().unwrap_or(limits::PAYLOAD_BYTES);
        bytes / size.max(1)
    }

    /// Records the sizes of claimed payloads. A large size is remembered for a while after the last payload of that size.
    pub(crate) fn saw(&self, lane: &LaneId, claimed: &[ClaimedExecution]) {
        let Some(largest) = claimed.iter().map(|one| one.payload.bytes.len()).max() else { return };
        let mut sizes = self.sizes();
        let remembered = sizes.get(lane).map_or(0, |size| size - size / 8);
        sizes.insert(lane.clone(), largest.max(remembered));
    }

    fn sizes(&self) -> MutexGuard<'_, HashMap<LaneId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_shared_out_and_the_better_get_the_rest() {
        assert_eq!(shares(10, 4).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!(shares(1, 1).collect::<Vec<_>>(), [1]);
        assert_eq!(shares(8, 8).collect::<Vec<_>>(), [1; 8]);
    }

    #[test]
    fn a_claim_asks_few_deep_partitions_or_many_shallow_ones() {
        let depth = Depth::default();
        assert_eq!(depth.partitions(16), AT_ONCE);
        depth.saw(2, true);
        depth.saw(4, true);
        assert_eq!((depth.partitions(16), depth.partitions(3)), (2, 1));
        depth.saw(1, false);
        assert_eq!((depth.partitions(16), depth.partitions(15)), (2, 2));
        (0..8).for_each(|_| depth.saw(1, false));
        assert_eq!((depth.partitions(5), depth.partitions(1)), (5, 1));
        depth.saw(0, false);
        assert_eq!(depth.partitions(2), 2);
    }
}
