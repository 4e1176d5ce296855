//! Settling: a lane's home learns what partitions really hold.

use super::contracts::{LaneSettled, SettleLaneArgs};
use super::{Lane, Share};
use crate::partition::{PartitionConfig, lane_partition};
use crate::types::TimestampMs;
use crate::view::{Stop, View};

/// Takes over the counts that were made after the last grant to their partition and under the settings as they are. Any
/// other says nothing of what is held now.
pub fn settle(
    view: &dyn View,
    args: &SettleLaneArgs,
    partitions: &PartitionConfig,
    now: TimestampMs,
) -> Result<(LaneSettled, Option<Lane>), Stop> {
    let key = args.lane.within(&args.namespace);
    let Some(lane) = view.lane(lane_partition(&key, partitions), &key)? else {
        return Ok((LaneSettled { taken: 0 }, None));
    };
    let mut after = lane.clone();
    let mut taken = 0;
    for count in args.counts.iter().filter(|count| count.revision == lane.revision) {
        if lane.settings.concurrency.is_none() || count.partition >= partitions.num_flow_partitions {
            continue;
        }
        let known = after.shares.get(&count.partition);
        if known.is_none_or(|share| share.seq == count.seq) {
            taken += 1;
            after.shares.insert(count.partition, Share { held: count.held, seq: count.seq, counted_at: now });
        }
    }
    Ok((LaneSettled { taken }, (taken > 0).then_some(after)))
}

#[cfg(test)]
mod tests {
    use crate::lane::yard::Yard;

    #[test]
    fn a_count_from_before_the_last_grant_says_nothing() {
        let mut yard = Yard::new();
        yard.submit(0, 0).unwrap();
        yard.submit(0, 0).unwrap();
        yard.limit(1);
        let old = yard.recount(0, 0);
        let grant = yard.granted(0, 1).unwrap();
        assert_eq!(yard.settle(vec![old]), 0);
        assert_eq!(yard.granted(0, 1), None, "what was granted is still reserved");
        yard.claim_with(0, grant);
        assert_eq!(yard.settle(vec![old]), 0);
    }

    #[test]
    fn a_count_under_other_settings_says_nothing() {
        let mut yard = Yard::new();
        yard.limit(1);
        let old = yard.recount(0, 0);
        yard.limit(2);
        assert_eq!(yard.settle(vec![old]), 0);
    }
}
