//! How much to ask of whom, so that one answer is neither too many executions nor too many bytes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::lease::contracts::Claimed;
use ff_core::limits;
use ff_core::types::LaneId;

/// Partitions asked at once.
pub(crate) const AT_ONCE: usize = 8;

/// Divides so many executions among so many partitions, the better ones first.
pub(crate) fn shares(executions: usize, partitions: usize) -> impl Iterator<Item = usize> {
    let (each, over) = (executions / partitions.max(1), executions % partitions.max(1));
    (0..partitions).map(move |nth| each + usize::from(nth < over))
}

/// How large the payloads of each lane have been lately. A store learns the size of a payload only when it claims it, so
/// partitions asked at once could together exceed what one answer may carry; this keeps what is asked within it.
#[derive(Default)]
pub(crate) struct Sizes(Mutex<HashMap<LaneId, usize>>);

impl Sizes {
    /// How many executions of a lane fit into so many bytes, going by what was seen.
    pub(crate) fn fitting(&self, lane: &LaneId, bytes: usize) -> usize {
        let size = self.sizes().get(lane).copied().unwrap_or(limits::PAYLOAD_BYTES);
        bytes / size.max(1)
    }

    /// Learns from what was claimed. A large payload is remembered for a while after the last of its size.
    pub(crate) fn saw(&self, lane: &LaneId, claimed: &[Claimed]) {
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
}
