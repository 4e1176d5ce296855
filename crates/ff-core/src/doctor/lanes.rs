//! The doctor's checks of lanes.

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::lane::Lane;
use crate::limits;
use crate::rule::index::Index;
use crate::types::LaneId;

/// Returns the findings about the lanes as a partition records them.
pub(super) fn examine(snapshot: &Snapshot, partition: u16) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (key, lane) in &snapshot.lanes {
        let mut find = |invariant, what: String| findings.find(invariant, format!("lane {key}"), what);
        if lane.key() != *key {
            find("I1", format!("is kept as {key}, and is another lane"));
        }
        if lane.settings.concurrency.is_none() && !lane.shares.is_empty() {
            find("I14", "has no limit, and shares of one".into());
        }
        if lane.classes.len() > limits::LANE_CLASSES {
            find("I9", format!("has {} requirement classes", lane.classes.len()));
        }
        if let Some((held, counted)) = over_its_share(lane, key, snapshot, partition) {
            find("I14", format!("holds {held} here, and counts {counted}"));
        }
    }
    findings.0.extend(unknown_classes(snapshot));
    findings.0
}

/// I9: every queue with work belongs to a requirement class that its lane records on this partition. A claim looks only
/// at the queues of these classes.
fn unknown_classes(snapshot: &Snapshot) -> impl Iterator<Item = Finding> {
    let queues = snapshot.indexes.iter().filter(|(_, members)| !members.is_empty());
    queues.filter_map(|(index, _)| {
        let Index::LaneEligible(lane, class) = index else { return None };
        let is_known =
            !class.has_requirements() || snapshot.lanes.get(lane).is_some_and(|known| known.classes.contains(class));
        let what = format!("does not know the requirements {class} of work that waits");
        (!is_known).then(|| Finding { invariant: "I9", about: format!("lane {lane}"), what })
    })
}

/// I14: at the home of a lane with a limit, the share of the home partition counts at least the executions that run
/// there. Returns the running and the counted number otherwise.
fn over_its_share(lane: &Lane, key: &LaneId, snapshot: &Snapshot, partition: u16) -> Option<(usize, u32)> {
    let share = lane.shares.get(&partition)?;
    let held = snapshot.indexes.get(&Index::LaneActive(key.clone())).map_or(0, std::collections::BTreeMap::len);
    (held > share.held as usize).then_some((held, share.held))
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::lane::fixture::{LaneFixture, PARTITIONS, lane};
    use crate::partition::lane_partition;
    use crate::types::RequirementClass;

    #[test]
    fn a_share_that_is_too_small_and_a_lane_under_another_name_are_found() {
        let mut fixture = LaneFixture::new();
        let home = lane_partition(&lane().lane, &PARTITIONS);
        fixture.submit(home, 0).unwrap();
        fixture.limit(1);
        let grant = fixture.granted(home, 1).unwrap();
        fixture.claim_with(home, grant);
        let healthy = fixture.model.snapshot(home);
        let found = |damage: &dyn Fn(&mut Snapshot)| violated(|snapshot| examine(snapshot, home), &healthy, damage);
        let the_lane = |snapshot: &mut Snapshot| snapshot.lanes.pop_first().unwrap().1;
        let keep = |snapshot: &mut Snapshot, lane: Lane| drop(snapshot.lanes.insert(lane.key(), lane));
        let short = |snapshot: &mut Snapshot| {
            let mut lane = the_lane(snapshot);
            lane.shares.get_mut(&home).unwrap().held = 0;
            keep(snapshot, lane);
        };
        assert_eq!(found(&short), ["I14"]);
        let unlimited = |snapshot: &mut Snapshot| {
            let mut lane = the_lane(snapshot);
            lane.settings.concurrency = None;
            keep(snapshot, lane);
        };
        assert_eq!(found(&unlimited), ["I14"]);
        let renamed = |snapshot: &mut Snapshot| {
            let lane = the_lane(snapshot);
            snapshot.lanes.insert(LaneId::parse("other").unwrap(), lane);
        };
        assert_eq!(found(&renamed), ["I1"]);
        let unclaimable = |snapshot: &mut Snapshot| {
            let index = Index::LaneEligible(lane().lane, RequirementClass::parse("gpu").unwrap());
            snapshot.indexes.insert(index, [(crate::rule::samples::waiting().id, 0)].into());
        };
        assert_eq!(found(&unclaimable), ["I9"]);
    }
}
