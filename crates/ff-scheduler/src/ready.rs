//! The ready partitions of each lane and kind, with the best execution of each.

use std::collections::{BTreeSet, HashMap};

use ff_core::lease::contracts::{Head, NextArgs};
use ff_core::types::{Kind, LaneId};

/// Known ready work. It may be outdated, because work can be cancelled or claimed elsewhere; a claim that finds nothing
/// corrects it.
#[derive(Debug, Default)]
pub(crate) struct ReadyWork {
    lanes: HashMap<LaneId, HashMap<Kind, Heads>>,
}

/// Ready work of one lane on one partition, taken out to be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadyLane {
    pub(crate) partition: u16,
    /// The lane's name in indexes.
    pub(crate) lane: LaneId,
    /// The position of the lane in the worker's preference.
    pub(crate) preference: usize,
    /// Each kind taken, with its best known execution.
    pub(crate) kinds: Vec<(Kind, Head)>,
}

impl ReadyWork {
    /// Work is ready on a partition. Returns whether that was not known.
    pub(crate) fn add(&mut self, lane: &LaneId, kind: &Kind, partition: u16, head: Head) -> bool {
        let kinds = self.lanes.entry(lane.clone()).or_default();
        kinds.entry(kind.clone()).or_default().add(partition, head)
    }

    /// Whether anything of this kind is ready on this lane.
    pub(crate) fn has(&self, lane: &LaneId, kind: &Kind) -> bool {
        self.lanes.get(lane).is_some_and(|kinds| kinds.contains_key(kind))
    }

    /// Takes out at most so many partitions of the first lane that has any, the better heads first. All have the
    /// highest priority there is; those with a lower one are taken when these have nothing better left.
    pub(crate) fn take(&mut self, wanted: &WorkFilter, most: usize) -> Vec<ReadyLane> {
        for (preference, lane) in wanted.lanes.iter().enumerate() {
            let Some(kinds) = self.lanes.get_mut(lane) else { continue };
            let taken = take_best(kinds, wanted, most, |partition, kinds| ReadyLane {
                partition,
                lane: lane.clone(),
                preference,
                kinds,
            });
            if kinds.is_empty() {
                self.lanes.remove(lane);
            }
            if !taken.is_empty() {
                return taken;
            }
        }
        Vec::new()
    }
}

fn take_best(
    ready: &mut HashMap<Kind, Heads>,
    wanted: &WorkFilter,
    most: usize,
    taken: impl Fn(u16, Vec<(Kind, Head)>) -> ReadyLane,
) -> Vec<ReadyLane> {
    let kinds: Vec<Kind> = match &wanted.kinds[..] {
        [] => ready.keys().cloned().collect(),
        kinds => kinds.iter().filter(|kind| ready.contains_key(*kind)).cloned().collect(),
    };
    let mut best: Option<Head> = None;
    let mut out = Vec::new();
    while out.len() < most {
        let first = kinds.iter().filter_map(|kind| ready.get(kind)?.first()).min();
        let Some((head, partition)) = first else { break };
        if best.is_some_and(|best| head.behind != best.behind) {
            break;
        }
        best = Some(head);
        // One claim covers all the kinds, so they are taken out together.
        let here = kinds.iter().filter_map(|kind| Some((kind.clone(), ready.get_mut(kind)?.remove(partition)?)));
        out.push(taken(partition, here.collect()));
    }
    for kind in kinds {
        if ready.get(&kind).is_some_and(Heads::is_empty) {
            ready.remove(&kind);
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
        if known.is_none_or(|known| head < known) {
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

/// Which work a worker takes.
#[derive(Clone, Debug)]
pub(crate) struct WorkFilter {
    /// The lanes' names in indexes, in the order of preference.
    pub(crate) lanes: Vec<LaneId>,
    /// Any kind when none is named.
    pub(crate) kinds: Vec<Kind>,
}

impl WorkFilter {
    pub(crate) fn by(args: &NextArgs) -> Self {
        let lanes = args.lanes.iter().map(|lane| lane.within(&args.namespace)).collect();
        Self { lanes, kinds: args.kinds.clone() }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{Priority, TimestampMs};

    use super::*;

    fn lane(name: &str) -> LaneId {
        LaneId::parse(name).unwrap()
    }

    fn kind(name: &str) -> Kind {
        Kind::parse(name).unwrap()
    }

    fn head(priority: i64, created: i64) -> Head {
        Head::new(Priority::new(priority).unwrap(), TimestampMs(created))
    }

    fn wanted(lanes: &[&str], kinds: &[&str]) -> WorkFilter {
        let lanes = lanes.iter().map(|name| lane(name)).collect();
        WorkFilter { lanes, kinds: kinds.iter().map(|name| kind(name)).collect() }
    }

    fn partitions(taken: &[ReadyLane]) -> Vec<u16> {
        taken.iter().map(|taken| taken.partition).collect()
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
    fn a_lower_priority_waits_for_the_higher_to_be_asked() {
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
    fn a_partition_leaves_with_all_the_kinds_asked_for_and_no_other() {
        let mut ready = ReadyWork::default();
        for (name, created) in [("x", 1), ("y", 2), ("z", 3)] {
            ready.add(&lane("a"), &kind(name), 7, head(0, created));
        }
        let taken = ready.take(&wanted(&["a"], &["z", "x", "none"]), 8);
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].kinds, [(kind("z"), head(0, 3)), (kind("x"), head(0, 1))]);
        assert!(!ready.has(&lane("a"), &kind("x")) && ready.has(&lane("a"), &kind("y")));
        assert_eq!(partitions(&ready.take(&wanted(&["a"], &[]), 8)), [7]);
        assert!(ready.lanes.is_empty(), "nothing is kept of what is gone");
    }
}
