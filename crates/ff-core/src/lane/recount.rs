//! Recounting the executions that a partition holds in a lane with a limit.

use serde::{Deserialize, Serialize};

use super::Lane;
use crate::engine_error::Refusal;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View};
use crate::types::{LaneId, Namespace, TimestampMs};

/// A request to a partition to count its held executions of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecountLaneArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// Number of the last grant to the partition. If the grant is unused at the time of the count, it becomes void.
    pub seq: u64,
}

/// The number of executions of a lane that a partition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneCount {
    pub partition: u16,
    pub held: u32,
    /// The last grant that is used or void.
    pub seq: u64,
    /// Revision of the settings at the time of the count.
    pub revision: u64,
    /// By the clock of the partition.
    pub counted_at: TimestampMs,
}

impl Command for RecountLaneArgs {
    type Reply = LaneCount;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Counts the held executions. Unused grants up to the given one become void, so that they cannot raise the count
    /// afterwards.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<LaneCount>, Stop> {
        let key = self.lane.within(&self.namespace);
        let held = view.active(self.partition, &key)?;
        let count = LaneCount { partition: self.partition, held, seq: 0, revision: 0, counted_at: at.now };
        let Some(lane) = view.lane(self.partition, &key)? else {
            return Ok(Decision::of(count, None));
        };
        let seq = lane.grants.max(self.seq);
        let after = (seq > lane.grants).then(|| Lane { grants: seq, ..lane.clone() });
        let count = LaneCount { seq, revision: lane.revision, ..count };
        Ok(Decision::about_lane(count, self.partition, after))
    }
}

#[cfg(test)]
mod tests {
    use crate::lane::fixture::LaneFixture;

    #[test]
    fn a_grant_that_was_counted_out_cannot_be_used_any_more() {
        let mut fixture = LaneFixture::new();
        fixture.submit(0, 0).unwrap();
        fixture.limit(1);
        let grant = fixture.granted(0, 1).unwrap();
        let count = fixture.recount(0, grant.seq);
        assert_eq!((count.held, fixture.settle(vec![count])), (0, 1));
        let next = fixture.granted(0, 1).unwrap();
        assert_eq!(fixture.claim_with(0, grant).decision.tasks, [], "it went to the next claim");
        assert_eq!(fixture.claim_with(0, next).decision.tasks.len(), 1);
    }
}
