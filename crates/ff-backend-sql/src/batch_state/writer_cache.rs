//! The cache that a writer keeps between batches: lanes, quotas and feeds, which are read often and seldom change, and the flows
//! of executions, which never change.

use std::collections::{BTreeSet, HashMap};

use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::lane::Lane;
use ff_core::quota::QuotaSet;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace};

use super::RecordSet;
use super::partition_cache::PartitionCache;
use crate::session::TransactionContext;

/// Maximum number of cached lanes, counted once per partition. Above it, they are all dropped and loaded again.
const LANES: usize = 100_000;
/// Maximum number of namespaces with cached quota policies, counted once per partition. Above it, they are all dropped.
const QUOTAS: usize = 10_000;
/// Maximum number of cached flow members. Above it, all are dropped, and an execution is known as a member only once it is loaded.
const MEMBERS: usize = 10_000;

/// The cache of a writer. Absent records are cached too.
#[derive(Default)]
pub struct WriterCache {
    pub(crate) lanes: RecordSet<(u16, LaneId), Lane>,
    pub(crate) feeds: RecordSet<u16, Feed>,
    pub(crate) quotas: RecordSet<(u16, Namespace), QuotaSet>,
    /// Whether the store has no quota policy, no configured lane, and a followed feed. Until a batch begins, these are the values
    /// that the previous batch found; prefetching relies on them.
    pub(crate) has_no_quotas: bool,
    pub(crate) has_no_lanes: bool,
    is_followed: bool,
    /// The flows of running executions, and whether they have dependents. The end of an execution needs both.
    memberships: HashMap<ExecutionId, (FlowId, bool)>,
    pub(super) partition_cache: PartitionCache,
    /// Number of further batches that look up the ids of submissions before ids are taken for new again.
    pub(crate) cautious_batches: u32,
}

impl WriterCache {
    /// Returns the part of the cache that stays valid while other sessions write.
    pub(crate) fn without_records(self) -> Self {
        let (lanes, quotas) = (RecordSet::default(), RecordSet::default());
        Self { lanes, quotas, feeds: RecordSet::default(), ..self }
    }

    /// Caches the flow of an execution while it runs.
    pub(crate) fn see(&mut self, execution: &Execution) {
        let Some(membership) = &execution.membership else { return };
        if !matches!(execution.phase, Phase::Running { .. }) {
            self.memberships.remove(&execution.id);
            return;
        }
        if self.memberships.len() >= MEMBERS {
            self.memberships.clear();
        }
        self.memberships.insert(execution.id, (membership.flow_id, membership.dependents > 0));
    }

    /// Returns the cached flow of a running execution, and whether it had dependents when it was cached.
    pub(crate) fn flow_of(&self, member: &ExecutionId) -> Option<(FlowId, bool)> {
        self.memberships.get(member).copied()
    }

    /// Stores the state that a batch found when it began.
    pub(crate) fn note(&mut self, context: &TransactionContext) {
        (self.has_no_lanes, self.has_no_quotas) = (!context.has_lanes, !context.has_quotas);
        self.is_followed = context.is_followed;
    }

    /// Returns the partitions whose feeds have to be loaded.
    pub(crate) fn unknown_feeds(&self, partitions: &[u16]) -> BTreeSet<u16> {
        let unknown = partitions.iter().filter(|partition| self.is_followed && !self.feeds.has(partition));
        unknown.copied().collect()
    }

    /// Returns the cache, once all its changes by a batch are stored.
    pub(crate) fn settled(mut self) -> Self {
        self.cautious_batches = self.cautious_batches.saturating_sub(1);
        self.lanes.settle();
        self.feeds.settle();
        self.quotas.settle();
        if self.quotas.len() > QUOTAS {
            self.quotas = RecordSet::default();
        }
        if self.lanes.len() > LANES {
            self.lanes = RecordSet::default();
        }
        self
    }
}
