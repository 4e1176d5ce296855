//! Allotting: before a partition hands out work of a lane with a limit, the home partition of the lane grants it a
//! number of executions.
//!
//! Grants reserve first and are settled later. The home adds each grant to the partition's share, so that all shares
//! together never exceed the limit. A grant is used once, in the same step as its claim. A partition's held count rises
//! only through grants, so a count made after the last grant is never too low, however old it is, and the home adopts
//! it. The next count also corrects a lost grant, an ended lease and a dead worker, so no capacity leaks.

use serde::{Deserialize, Serialize};

use super::{Lane, Share};
use crate::engine_error::Refusal;
use crate::lease::contracts::ClaimArgs;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition, lane_partition};
use crate::rule::view::{Stop, View};
use crate::types::{LaneId, Namespace, TimestampMs};

/// A request of a partition for a grant, to hand out work of a lane with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllotArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// Number of executions that the partition wants to hand out.
    pub want: u32,
}

/// The answer of the lane's home partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// Absent if nothing is granted.
    pub grant: Option<Grant>,
    /// Revision of the settings on which the answer is based.
    pub revision: u64,
    /// Partitions to recount before the next request, each with the number of its last grant.
    pub uncounted: Vec<(u16, u64)>,
}

/// A permission to hand out `n` executions, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub n: u32,
    pub seq: u64,
    pub revision: u64,
}

impl AllotArgs {
    /// Returns the request for a claim whose partition answered that the lane has a limit.
    pub fn of(claim: &ClaimArgs) -> Self {
        Self {
            partition: claim.partition,
            namespace: claim.namespace.clone(),
            lane: claim.lane.clone(),
            want: u32::try_from(claim.max.min(limits::CLAIM_AT_ONCE)).unwrap_or(u32::MAX),
        }
    }
}

impl Command for AllotArgs {
    type Reply = Allotment;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        lane_partition(&self.lane.within(&self.namespace), partitions)
    }

    /// Grants a partition as many executions as it wants and the limit leaves free. If none is free, names the
    /// partitions with the oldest counts, because their leases may have ended. If partitions were never counted, names
    /// those and grants nothing.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Allotment>, Stop> {
        let key = self.lane.within(&self.namespace);
        let home = self.partition(&at.partitions);
        let nothing = Allotment { grant: None, revision: 0, uncounted: Vec::new() };
        let Some(lane) = view.lane(home, &key)? else { return Ok(Decision::of(nothing, None)) };
        let Some(limit) = lane.settings.concurrency else { return Ok(Decision::of(nothing, None)) };
        let nothing = Allotment { revision: lane.revision, ..nothing };
        let unknown = (0..at.partitions.num_flow_partitions).filter(|partition| !lane.shares.contains_key(partition));
        let unknown: Vec<_> = unknown.map(|partition| (partition, 0)).collect();
        if !unknown.is_empty() {
            return Ok(Decision::of(Allotment { uncounted: unknown, ..nothing }, None));
        }
        let held: u32 = lane.shares.values().map(|share| share.held).sum();
        let n = limit.saturating_sub(held).min(self.want);
        if n == 0 {
            return Ok(Decision::of(Allotment { uncounted: longest_uncounted(lane, at.now), ..nothing }, None));
        }
        let mut after = lane.clone();
        let Some(share) = after.shares.get_mut(&self.partition) else { return Ok(Decision::of(nothing, None)) };
        (share.held, share.seq) = (share.held + n, share.seq + 1);
        let grant = Grant { n, seq: share.seq, revision: lane.revision };
        Ok(Decision::about_lane(Allotment { grant: Some(grant), ..nothing }, home, Some(after)))
    }
}

/// Returns the partitions that hold executions and have the oldest counts, each with the number of its last grant. A
/// partition that was counted within [`limits::RECOUNT_MS`] is left out.
fn longest_uncounted(lane: &Lane, now: TimestampMs) -> Vec<(u16, u64)> {
    let stale = |share: &Share| share.held > 0 && now.since(share.counted_at) >= limits::RECOUNT_MS;
    let mut stale: Vec<_> = lane.shares.iter().filter(|(_, share)| stale(share)).collect();
    stale.sort_by_key(|(partition, share)| (share.counted_at, **partition));
    stale.into_iter().take(limits::RECOUNT).map(|(partition, share)| (*partition, share.seq)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::hint::Hint;
    use crate::lane::fixture::LaneFixture;

    fn full_of_work(limit: u32) -> LaneFixture {
        let mut fixture = LaneFixture::new();
        for nth in 0..12 {
            fixture.submit(nth % 4, 0).unwrap();
        }
        fixture.limit(limit);
        fixture
    }

    #[test]
    fn no_more_are_held_than_the_limit_on_all_partitions_together() {
        let mut fixture = full_of_work(4);
        assert!(fixture.claim(0, 3).limited, "nothing goes without a grant");
        let first = fixture.granted(0, 3).unwrap();
        assert_eq!(fixture.claim_with(0, first).decision.tasks.len(), 3);
        let second = fixture.granted(1, 3).unwrap();
        assert_eq!((second.n, fixture.claim_with(1, second).decision.tasks.len()), (1, 1));
        assert_eq!(fixture.granted(2, 1), None);
    }

    #[test]
    fn a_grant_counts_once() {
        let mut fixture = full_of_work(4);
        let grant = fixture.granted(0, 1).unwrap();
        assert_eq!(fixture.claim_with(0, grant).decision.tasks.len(), 1);
        assert_eq!(fixture.claim_with(0, grant).decision.tasks.len(), 0);
    }

    #[test]
    fn a_grant_of_other_settings_counts_no_more() {
        let mut fixture = full_of_work(4);
        let grant = fixture.granted(0, 1).unwrap();
        fixture.limit(1);
        assert_eq!(fixture.claim_with(0, grant).decision.tasks.len(), 0);
    }

    #[test]
    fn unused_granted_capacity_is_free_once_it_is_settled() {
        let mut fixture = full_of_work(10);
        let grant = fixture.granted(0, 10).unwrap();
        let granted = fixture.claim_with(0, grant);
        assert_eq!((granted.decision.tasks.len(), granted.count.held), (3, 3));
        assert_eq!(fixture.granted(1, 1), None);
        fixture.settle(vec![granted.count]);
        assert_eq!(fixture.granted(1, 10).unwrap().n, 7);
    }

    #[test]
    fn an_ended_lease_frees_capacity_and_sends_a_hint() {
        let mut fixture = full_of_work(1);
        let grant = fixture.granted(0, 1).unwrap();
        let task = fixture.claim_with(0, grant).decision.tasks.remove(0);
        fixture.complete(&task);
        assert!(
            fixture.hints.iter().any(|hint| matches!(hint, Hint::LaneFreed { partition: 0, .. })),
            "{:?}",
            fixture.hints
        );
        assert_eq!(fixture.allot(1, 1).uncounted, [], "it was counted only just now");
        fixture.now = fixture.now + limits::RECOUNT_MS;
        let refused = fixture.allot(1, 1);
        assert_eq!(refused.uncounted, [(0, grant.seq)]);
        let count = fixture.recount(0, grant.seq);
        assert_eq!((count.held, fixture.settle(vec![count])), (0, 1));
        assert_eq!(fixture.granted(1, 1).unwrap().n, 1);
    }

    #[test]
    fn a_limit_that_came_late_counts_what_is_held_already() {
        let mut fixture = LaneFixture::new();
        fixture.submit(2, 0).unwrap();
        fixture.submit(0, 0).unwrap();
        fixture.claim(2, 1);
        fixture.limit(1);
        assert_eq!(fixture.granted(0, 1), None);
    }

    #[test]
    fn nothing_is_granted_before_every_partition_was_counted() {
        let mut fixture = full_of_work(4);
        let raised = crate::lane::contracts::Setting::To(5);
        fixture
            .ask(crate::lane::contracts::ConfigureLaneArgs { concurrency: raised, ..crate::lane::fixture::lane() })
            .unwrap();
        let allotted = fixture.allot(0, 1);
        assert_eq!((allotted.grant, allotted.uncounted.len()), (None, 4));
    }
}
