//! Settling: the home of a lane adopts the held counts of partitions.

use serde::{Deserialize, Serialize};

use super::Share;
use super::recount::LaneCount;
use crate::engine_error::{Code, Refusal, check_limit};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, lane_partition};
use crate::rule::view::{Stop, View};
use crate::types::{LaneId, Namespace};

/// A report of the counts of partitions to the lane's home partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleLaneArgs {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub counts: Vec<LaneCount>,
}

/// The number of counts that were adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSettled {
    pub taken: u32,
}

impl Command for SettleLaneArgs {
    type Reply = LaneSettled;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "counts", usize::from(u16::MAX), self.counts.len())
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        lane_partition(&self.lane.within(&self.namespace), partitions)
    }

    /// Adopts the counts that were made after the last grant to their partition, under the current settings and not
    /// before the known count. Other counts are ignored.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<LaneSettled>, Stop> {
        let key = self.lane.within(&self.namespace);
        let home = self.partition(&at.partitions);
        let Some(lane) = view.lane(home, &key)? else {
            return Ok(Decision::of(LaneSettled { taken: 0 }, None));
        };
        let mut after = lane.clone();
        let mut taken = 0;
        for count in self.counts.iter().filter(|count| count.revision == lane.revision) {
            if lane.settings.concurrency.is_none() || count.partition >= at.partitions.num_flow_partitions {
                continue;
            }
            // Clocks of partitions may differ. A time ahead of this one would delay the next count.
            let counted_at = count.counted_at.min(at.now);
            let known = after.shares.get(&count.partition);
            if known.is_none_or(|share| share.seq == count.seq && share.counted_at <= counted_at) {
                taken += 1;
                after.shares.insert(count.partition, Share { held: count.held, seq: count.seq, counted_at });
            }
        }
        Ok(Decision::about_lane(LaneSettled { taken }, home, (taken > 0).then_some(after)))
    }
}

#[cfg(test)]
mod tests {
    use crate::lane::fixture::LaneFixture;
    use crate::limits;

    #[test]
    fn a_count_from_before_the_last_grant_says_nothing() {
        let mut fixture = LaneFixture::new();
        fixture.submit(0, 0).unwrap();
        fixture.submit(0, 0).unwrap();
        fixture.limit(1);
        let old = fixture.recount(0, 0);
        let grant = fixture.granted(0, 1).unwrap();
        assert_eq!(fixture.settle(vec![old]), 0);
        assert_eq!(fixture.granted(0, 1), None, "what was granted is still reserved");
        fixture.claim_with(0, grant);
        assert_eq!(fixture.settle(vec![old]), 0);
    }

    #[test]
    fn a_count_that_arrives_late_is_as_old_as_it_is() {
        let mut fixture = LaneFixture::new();
        fixture.submit(0, 0).unwrap();
        fixture.submit(0, 0).unwrap();
        fixture.limit(1);
        let grant = fixture.granted(0, 1).unwrap();
        let held = fixture.claim_with(0, grant);
        let late = fixture.recount(0, 0);
        fixture.complete(&held.decision.tasks[0]);
        fixture.now = fixture.now + limits::RECOUNT_MS;
        assert_eq!(fixture.settle(vec![late]), 1);
        let uncounted = fixture.allot(0, 1).uncounted;
        assert_eq!(uncounted, [(0, grant.seq)], "the count is stale");
        let count = fixture.recount(0, grant.seq);
        assert_eq!(fixture.settle(vec![count]), 1);
        assert_eq!(fixture.settle(vec![late]), 0, "an older count does not replace it");
        assert_eq!(fixture.granted(0, 1).map(|grant| grant.n), Some(1));
    }

    #[test]
    fn a_count_under_other_settings_says_nothing() {
        let mut fixture = LaneFixture::new();
        fixture.limit(1);
        let old = fixture.recount(0, 0);
        fixture.limit(2);
        assert_eq!(fixture.settle(vec![old]), 0);
    }
}
