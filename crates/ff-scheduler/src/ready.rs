//! The ready partitions of each queue, with the best execution of each. A queue is a lane, a kind and a requirement class.

use std::collections::{BTreeSet, HashMap};

use ff_core::lease::contracts::{Head, NextArgs};
use ff_core::types::{Capability, Kind, LaneId, RequirementClass, TimestampMs};

/// Maximum number of types of assigned work that are known at once.
const ASSIGNED_MAX: usize = 1_000;

/// Known ready work. It may be outdated, because work can be cancelled or claimed elsewhere; a claim that finds nothing corrects
/// it.
#[derive(Debug, Default)]
pub(crate) struct ReadyWork {
    lanes: HashMap<LaneId, HashMap<WorkType, Heads>>,
    /// Number of types of assigned work, over all lanes.
    assigned: usize,
    /// For each fair lane, the virtual time up to which partitions have been served.
    rounds: HashMap<LaneId, Head>,
}

/// The kind and the requirement class of ready work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WorkType {
    pub(crate) kind: Kind,
    pub(crate) class: RequirementClass,
}

/// Ready work of one lane on one partition, taken out to be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadyLane {
    pub(crate) partition: u16,
    /// The lane's name in indexes.
    pub(crate) lane: LaneId,
    /// Position of the lane among the lanes the worker wants.
    pub(crate) preference: usize,
    /// Each type taken, with its best known execution.
    pub(crate) types: Vec<(WorkType, Head)>,
}

impl ReadyLane {
    /// Returns whether the work is assigned to the worker it was taken for.
    pub(crate) fn is_assigned(&self) -> bool {
        self.types.first().is_some_and(|(of, _)| of.class.assignee().is_some())
    }
}

impl ReadyWork {
    /// Notes that work is ready on a partition. Returns whether that is new.
    pub(crate) fn add(&mut self, lane: &LaneId, of: &WorkType, partition: u16, head: Head) -> bool {
        if of.class.assignee().is_some() && !self.has(lane, of) {
            self.count_assigned();
        }
        let head = self.rounds.get(lane).filter(|_| head.is_fair()).map_or(head, |round| head.max(*round));
        let types = self.lanes.entry(lane.clone()).or_default();
        types.entry(of.clone()).or_default().add(partition, head)
    }

    /// Counts one more type of assigned work. At the maximum it forgets all, because their workers may never ask here; an unused
    /// grant expires.
    fn count_assigned(&mut self) {
        if self.assigned >= ASSIGNED_MAX {
            for types in self.lanes.values_mut() {
                types.retain(|of, _| of.class.assignee().is_none());
            }
            self.lanes.retain(|_, types| !types.is_empty());
            self.assigned = 0;
        }
        self.assigned += 1;
    }

    /// Returns the head of a partition of a fair lane after a claim has used virtual time of it. Partitions with the least used
    /// time come first, so a partition with many keys is asked more often than one with few.
    pub(crate) fn after_turn(&self, lane: &LaneId, head: Head, used: Head) -> Head {
        let began = if head.is_fair() { Some(head) } else { self.rounds.get(lane).copied() };
        Head {
            created_at: began.map_or(used.created_at, |began| TimestampMs(began.created_at.0 + used.created_at.0)),
            ..used
        }
    }

    /// Returns whether work of this type is ready on this lane.
    pub(crate) fn has(&self, lane: &LaneId, of: &WorkType) -> bool {
        self.lanes.get(lane).is_some_and(|types| types.contains_key(of))
    }

    /// Takes out at most `most` partitions of the first lane with ready work, better heads first. All have the highest priority;
    /// later calls take lower ones.
    ///
    /// Work assigned to the worker goes first, in any lane and of any priority, and is claimed separately.
    pub(crate) fn take(&mut self, wanted: &WorkFilter, most: usize) -> Vec<ReadyLane> {
        let assigned = if self.assigned > 0 { self.take_of(wanted, most, true) } else { Vec::new() };
        if assigned.is_empty() { self.take_of(wanted, most, false) } else { assigned }
    }

    fn take_of(&mut self, wanted: &WorkFilter, most: usize, is_assigned: bool) -> Vec<ReadyLane> {
        for (preference, lane) in wanted.lanes.iter().enumerate() {
            let Some(types) = self.lanes.get_mut(lane) else { continue };
            let before = types.len();
            let queues = if is_assigned { wanted.assigned(types) } else { wanted.shared(types) };
            let taken = take_best(types, queues, most, |partition, types| ReadyLane {
                partition,
                lane: lane.clone(),
                preference,
                types,
            });
            self.assigned -= if is_assigned { before - types.len() } else { 0 };
            if types.is_empty() {
                self.lanes.remove(lane);
            }
            let fair = taken.iter().flat_map(|ready| &ready.types).map(|(_, head)| *head).filter(|head| head.is_fair());
            if let Some(latest) = fair.max() {
                let round = self.rounds.entry(lane.clone()).or_insert(latest);
                *round = latest.max(*round);
            }
            if !taken.is_empty() {
                return taken;
            }
        }
        Vec::new()
    }
}

fn take_best(
    ready: &mut HashMap<WorkType, Heads>,
    types: Vec<WorkType>,
    most: usize,
    to_lane: impl Fn(u16, Vec<(WorkType, Head)>) -> ReadyLane,
) -> Vec<ReadyLane> {
    let mut best: Option<Head> = None;
    let mut out = Vec::new();
    while out.len() < most {
        let first = types.iter().filter_map(|of| ready.get(of)?.first()).min();
        let Some((head, partition)) = first else { break };
        if best.is_some_and(|best| head.behind != best.behind) {
            break;
        }
        best = Some(head);
        // One claim covers all the types, so they are taken out together.
        let here = types.iter().filter_map(|of| Some((of.clone(), ready.get_mut(of)?.remove(partition)?)));
        out.push(to_lane(partition, here.collect()));
    }
    for of in types {
        if ready.get(&of).is_some_and(Heads::is_empty) {
            ready.remove(&of);
        }
    }
    out
}

/// The best execution of each partition, in order.
#[derive(Debug, Default)]
struct Heads {
    best_first: BTreeSet<(Head, u16)>,
    by_partition: HashMap<u16, Head>,
}

impl Heads {
    fn add(&mut self, partition: u16, head: Head) -> bool {
        let known = self.by_partition.get(&partition).copied();
        // A served partition of a fair lane waits for its turn, even if more work becomes ready there.
        let is_later_turn = known.is_some_and(|known| known.is_fair() && head.is_fair() && head > known);
        let is_earlier = known.is_none_or(|known| head < known && !(known.is_fair() && head.is_fair()));
        if is_earlier || is_later_turn {
            self.by_partition.insert(partition, head);
            self.best_first.insert((head, partition));
            if let Some(known) = known {
                self.best_first.remove(&(known, partition));
            }
        }
        known.is_none()
    }

    fn first(&self) -> Option<(Head, u16)> {
        self.best_first.first().copied()
    }

    fn remove(&mut self, partition: u16) -> Option<Head> {
        let head = self.by_partition.remove(&partition)?;
        self.best_first.remove(&(head, partition));
        Some(head)
    }

    fn is_empty(&self) -> bool {
        self.best_first.is_empty()
    }
}

/// The work that a worker takes.
#[derive(Clone, Debug)]
pub(crate) struct WorkFilter {
    /// The lanes' names in indexes, in order of preference.
    pub(crate) lanes: Vec<LaneId>,
    /// Empty for any kind.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) capabilities: BTreeSet<Capability>,
    /// The class of the work assigned to the worker.
    pub(crate) own: RequirementClass,
}

impl WorkFilter {
    pub(crate) fn by(args: &NextArgs) -> Self {
        let lanes = args.lanes.iter().map(|lane| lane.within(&args.namespace)).collect();
        let own = RequirementClass::assigned_to(&args.holder.worker_instance_id);
        Self { lanes, kinds: args.kinds.clone(), capabilities: args.capabilities.clone(), own }
    }

    /// Returns the queues of a lane that all such workers take from.
    fn shared(&self, ready: &HashMap<WorkType, Heads>) -> Vec<WorkType> {
        let plain = |kind: &Kind| WorkType { kind: kind.clone(), class: RequirementClass::PLAIN };
        match &self.kinds[..] {
            kinds @ [_, ..] if self.capabilities.is_empty() => {
                kinds.iter().map(plain).filter(|of| ready.contains_key(of)).collect()
            }
            _ => ready.keys().filter(|of| of.class != self.own && self.takes(of)).cloned().collect(),
        }
    }

    /// Returns the queues of a lane that only this worker takes from.
    fn assigned(&self, ready: &HashMap<WorkType, Heads>) -> Vec<WorkType> {
        ready.keys().filter(|of| of.class == self.own && self.takes(of)).cloned().collect()
    }

    /// Returns whether the worker takes work of this type, on any of its lanes.
    pub(crate) fn takes(&self, of: &WorkType) -> bool {
        let is_of_kind = self.kinds.is_empty() || self.kinds.contains(&of.kind);
        is_of_kind && (of.class.is_met_by(&self.capabilities) || of.class == self.own)
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{Priority, TimestampMs, WorkerInstanceId};

    use super::*;

    fn lane(name: &str) -> LaneId {
        LaneId::parse(name).unwrap()
    }

    fn kind(name: &str) -> WorkType {
        WorkType { kind: Kind::parse(name).unwrap(), class: RequirementClass::PLAIN }
    }

    fn head(priority: i64, created: i64) -> Head {
        Head::new(Priority::new(priority).unwrap(), TimestampMs(created))
    }

    fn wanted(lanes: &[&str], kinds: &[&str]) -> WorkFilter {
        let lanes = lanes.iter().map(|name| lane(name)).collect();
        WorkFilter {
            lanes,
            kinds: kinds.iter().map(|name| kind(name).kind).collect(),
            capabilities: BTreeSet::new(),
            own: own("w-1"),
        }
    }

    fn own(instance: &str) -> RequirementClass {
        RequirementClass::assigned_to(&WorkerInstanceId::parse(instance).unwrap())
    }

    fn partitions(lanes: &[ReadyLane]) -> Vec<u16> {
        lanes.iter().map(|lane| lane.partition).collect()
    }

    #[test]
    fn the_better_heads_are_taken_first() {
        let mut ready = ReadyWork::default();
        for (partition, created) in [(1, 30), (2, 10), (3, 20)] {
            assert!(ready.add(&lane("a"), &kind("k"), partition, head(0, created)));
        }
        assert!(!ready.add(&lane("a"), &kind("k"), 1, head(0, 5)), "the partition was known");
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 2)), [1, 2]);
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 2)), [3]);
        assert_eq!(ready.take(&wanted(&["a"], &[]), 2), []);
    }

    #[test]
    fn lower_priority_partitions_wait_until_higher_ones_are_taken() {
        let mut ready = ReadyWork::default();
        ready.add(&lane("a"), &kind("k"), 1, head(0, 1));
        ready.add(&lane("a"), &kind("k"), 2, head(5, 50));
        ready.add(&lane("a"), &kind("k"), 3, head(5, 40));
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 8)), [3, 2]);
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 8)), [1]);
    }

    #[test]
    fn lanes_are_taken_in_the_order_they_are_preferred() {
        let mut ready = ReadyWork::default();
        ready.add(&lane("a"), &kind("k"), 1, head(9, 1));
        ready.add(&lane("b"), &kind("k"), 2, head(0, 9));
        let first = ready.take(&wanted(&["c", "b", "a"], &[]), 8);
        assert_eq!((partitions(&first), first[0].preference), (vec![2], 1));
        let second = ready.take(&wanted(&["c", "b", "a"], &[]), 8);
        assert_eq!((partitions(&second), second[0].preference), (vec![1], 2));
    }

    #[test]
    fn a_partition_is_taken_with_exactly_the_wanted_kinds() {
        let mut ready = ReadyWork::default();
        for (name, created) in [("x", 1), ("y", 2), ("z", 3)] {
            ready.add(&lane("a"), &kind(name), 7, head(0, created));
        }
        let taken = ready.take(&wanted(&["a"], &["z", "x", "none"]), 8);
        assert_eq!(taken.len(), 1);
        let mut types = taken[0].types.clone();
        types.sort_unstable();
        assert_eq!(types, [(kind("x"), head(0, 1)), (kind("z"), head(0, 3))]);
        assert!(!ready.has(&lane("a"), &kind("x")) && ready.has(&lane("a"), &kind("y")));
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 8)), [7]);
        assert!(ready.lanes.is_empty(), "nothing is kept of what is gone");
    }

    #[test]
    fn a_worker_takes_only_what_it_has_the_capabilities_for() {
        let mut ready = ReadyWork::default();
        let of_class = |text| WorkType { class: RequirementClass::parse(text).unwrap(), ..kind("k") };
        ready.add(&lane("a"), &of_class("gpu"), 1, head(0, 1));
        ready.add(&lane("a"), &of_class("gpu,ssd"), 2, head(0, 2));
        ready.add(&lane("a"), &of_class(""), 3, head(0, 3));
        let with = |words: &[&str]| WorkFilter {
            capabilities: words.iter().map(|word| Capability::parse(word).unwrap()).collect(),
            ..wanted(&["a"], &["k"])
        };
        assert_eq!(partitions(&ready.take(&with(&["ssd"]), 8)), [3]);
        assert_eq!(partitions(&ready.take(&with(&["gpu"]), 8)), [1]);
        assert_eq!(ready.take(&with(&[]), 8), []);
        assert_eq!(partitions(&ready.take(&with(&["gpu", "ssd"]), 8)), [2]);
    }
    #[test]
    fn assigned_work_is_taken_first_and_alone() {
        let mut ready = ReadyWork::default();
        ready.add(&lane("a"), &kind("k"), 1, head(9, 1));
        ready.add(&lane("b"), &WorkType { class: own("w-1"), ..kind("k") }, 1, head(0, 9));
        ready.add(&lane("a"), &WorkType { class: own("w-2"), ..kind("k") }, 2, head(9, 0));
        let taken = ready.take(&wanted(&["a", "b"], &[]), 8);
        assert_eq!((partitions(&taken), taken[0].is_assigned(), taken[0].preference), (vec![1], true, 1));
        let taken = ready.take(&wanted(&["a", "b"], &["k"]), 8);
        assert_eq!((partitions(&taken), taken[0].is_assigned()), (vec![1], false));
        assert_eq!(ready.take(&wanted(&["a", "b"], &[]), 8), [], "the rest is another's");
        let other = WorkFilter { own: own("w-2"), ..wanted(&["a"], &["k"]) };
        assert_eq!(partitions(&ready.take(&other, 8)), [2]);
        assert_eq!(ready.assigned, 0);
    }
}
