//! Filters of claims over waiting executions.

use std::collections::BTreeSet;

use ff_core::contracts::ClaimArgs;
use ff_core::execution::Execution;
use ff_core::rule::index::{Score, aged_score, eligible_score};
use ff_core::rule::view::EligibleQuery;
use ff_core::types::{FairKey, Kind, LaneId, Priority, RequirementClass, TimestampMs};

/// The waiting executions that a claim asks for: a lane on a partition, kinds (any kind if the list is empty) and classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClaimFilter {
    pub(crate) partition: u16,
    pub(crate) lane: LaneId,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) classes: Vec<RequirementClass>,
    /// The key in a fair lane, otherwise empty.
    pub(crate) key: FairKey,
    /// The wait that counts as much as one step of priority; none if only the priority counts.
    pub(crate) ageing_ms: Option<u64>,
}

impl ClaimFilter {
    /// Returns the filter of a query, independent of the order of its kinds.
    pub(crate) fn by(query: &EligibleQuery) -> Self {
        let (mut kinds, mut classes) = (query.kinds.clone(), query.classes.clone());
        kinds.sort_unstable();
        kinds.dedup();
        classes.sort_unstable();
        let (lane, key) = (query.lane.clone(), query.key.clone());
        Self { partition: query.partition, lane, kinds, classes, key, ageing_ms: query.ageing_ms }
    }

    /// Returns whether a claim asks for these executions, whatever its ageing, classes and key.
    pub(crate) fn is_for(&self, claim: &ClaimArgs) -> bool {
        self.partition == claim.partition
            && self.lane == claim.lane.within(&claim.namespace)
            && self.is_assigned() == claim.assigned
            && self.kinds.iter().collect::<BTreeSet<_>>() == claim.kinds.iter().collect()
    }

    /// Returns whether it asks for executions assigned to a worker instance.
    fn is_assigned(&self) -> bool {
        self.classes.first().is_some_and(|class| class.assignee().is_some())
    }

    /// Returns the score by which executions are ordered.
    pub(crate) fn score(&self, priority: Priority, created_at: TimestampMs) -> Score {
        match self.ageing_ms {
            Some(ageing_ms) => aged_score(priority, created_at, ageing_ms),
            None => eligible_score(priority, created_at),
        }
    }

    /// Returns whether an execution matches the filter.
    pub(crate) fn covers(&self, execution: &Execution) -> bool {
        self.lane == execution.lane_key()
            && (self.kinds.is_empty() || self.kinds.binary_search(&execution.kind).is_ok())
            && execution.queue_class().is_some_and(|class| self.classes.binary_search(&class).is_ok())
            && self.key == execution.queue_key()
    }
}

#[cfg(test)]
mod tests {
    use ff_core::lease::Holder;

    use super::*;

    #[test]
    fn a_list_is_for_claims_that_want_the_same_however_they_say_it() {
        let claim = |kinds: &[&str]| ClaimArgs {
            kinds: kinds.iter().map(|kind| kind.parse().unwrap()).collect(),
            ..ClaimArgs::new(3, Holder { worker_id: "w".parse().unwrap(), worker_instance_id: "w-1".parse().unwrap() })
        };
        let wanted = |kinds: &[&str]| {
            let ClaimArgs { partition, lane, namespace, kinds, .. } = claim(kinds);
            ClaimFilter::by(&EligibleQuery {
                partition,
                lane: lane.within(&namespace),
                kinds,
                classes: vec![RequirementClass::PLAIN],
                key: FairKey::default(),
                ageing_ms: Some(5),
                limit: 1,
            })
        };
        assert!(wanted(&["a", "b"]).is_for(&claim(&["b", "a", "b"])));
        assert!(!wanted(&["a", "b"]).is_for(&claim(&["a"])));
        assert!(!wanted(&[]).is_for(&claim(&["a"])));
        assert!(!wanted(&["a"]).is_for(&ClaimArgs { partition: 4, ..claim(&["a"]) }));
    }
}
