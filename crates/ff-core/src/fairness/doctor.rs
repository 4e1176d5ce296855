//! The doctor's checks of turns.

use std::collections::{BTreeMap, BTreeSet};

use super::TurnQueue;
use crate::backend::snapshot::Snapshot;
use crate::doctor::{Finding, Findings};
use crate::execution::Phase;
use crate::types::{FairKey, Kind, LaneId, RequirementClass};

/// Returns the findings about the turns of keys. I8: the counts and lists of a key follow from its waiting executions.
/// I9: the lane of a waiting execution with a key is marked as keyed, because a claim looks for turns only in such
/// lanes.
pub(crate) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    let about = |lane: &LaneId, key: &FairKey| format!("key {key:?} of lane {lane}");
    let mut counted: BTreeMap<(LaneId, FairKey), BTreeMap<(Kind, RequirementClass), u32>> = BTreeMap::new();
    for execution in snapshot.executions.values() {
        if execution.phase == Phase::Waiting && !execution.fair_key.is_empty() {
            let waiting = counted.entry((execution.lane_key(), execution.fair_key.clone())).or_default();
            *waiting.entry((execution.kind.clone(), execution.class())).or_default() += 1;
        }
    }
    let none = BTreeMap::new();
    let mut lists: BTreeMap<(LaneId, TurnQueue), BTreeMap<FairKey, u64>> = BTreeMap::new();
    for ((lane, key), turn) in &snapshot.turns {
        for queue in turn.queues(key) {
            lists.entry((lane.clone(), queue)).or_default().insert(key.clone(), turn.at);
        }
    }
    let keys: BTreeSet<_> = counted.keys().chain(snapshot.turns.keys()).collect();
    for name in keys {
        let should = counted.get(name).unwrap_or(&none);
        let does = snapshot.turns.get(name).map_or(&none, |turn| &turn.waiting);
        if should != does {
            let what = format!("should have {should:?} waiting, counts {does:?}");
            findings.find("I8", about(&name.0, &name.1), what);
        }
        if !should.is_empty() && !snapshot.lanes.get(&name.0).is_some_and(|lane| lane.keyed) {
            findings.find("I9", about(&name.0, &name.1), "waits, and its lane does not know of keys");
        }
    }
    findings.compare(&lists, &snapshot.turn_queues, |(lane, _), key| about(lane, key));
    findings.0
}
