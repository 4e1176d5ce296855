//! The keys of fair lanes, as other programs see them.

use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{FairKey, Kind, LaneId, RequirementClass};

#[test]
fn the_keys_of_fair_lanes_follow_the_grammar_and_stay_in_their_slot() {
    let index = IndexKeys::new(&Partition::new(PartitionFamily::Execution, 7));
    let (lane, kind) = (LaneId::parse("mail").unwrap(), Kind::parse("resize").unwrap());
    let (class, key) = (RequirementClass::parse("gpu").unwrap(), FairKey::parse("a {fp:1}").unwrap());
    for (made, expected) in [
        (index.lane_keyed(&lane), "eligible_keyed"),
        (index.lane_eligible_key(&lane, &kind, &class, &key), "eligible:kind:resize:class:gpu key:a {fp:1}"),
        (index.lane_turn(&lane, &key), "turn:a {fp:1}"),
        (index.lane_turns(&lane, &class), "turns:class:gpu"),
        (index.lane_turns_kind(&lane, &kind, &class), "turns:kind:resize:class:gpu"),
        (index.lane_turns_idle(&lane), "turns:idle"),
    ] {
        assert_eq!(made, format!("ff:idx:{{fp:7}}:lane:mail:{expected}"));
    }
}
