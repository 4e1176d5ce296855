//! The cache of a writer from one batch to the next: the configuration of lanes and the feeds, which are read all the
//! time and hardly ever change, and the flow of an execution, which never does.

use std::collections::{BTreeSet, HashMap};

use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::lane::Lane;
use ff_core::quota::QuotaSet;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace};

use super::RecordSet;
use super::partition_cache::PartitionCache;
use crate::session::TransactionContext;

/// How many lanes are cached, counted once on each partition. Past it they are looked up anew.
const LANES: usize = 100_000;
/// How many namespaces' quota policies are cached, counted once on each partition.
const QUOTAS: usize = 10_000;
/// How many members of flows are cached. Past it they are found to be members only once they are loaded.
const MEMBERS: usize = 10_000;

/// Lanes and feeds, absent ones included.
#[derive(Default)]
pub struct WriterCache {
    pub(crate) lanes: RecordSet<(u16, LaneId), Lane>,
    pub(crate) feeds: RecordSet<u16, Feed>,
    pub(crate) quotas: RecordSet<(u16, Namespace), QuotaSet>,
    /// Whether the store has no quota policy, no configured lane, and whether it has a followed feed. Until a batch begins this is as
    /// the previous batch found it, and prefetching relies on it.
    pub(crate) has_no_quotas: bool,
    pub(crate) has_no_lanes: bool,
    is_followed: bool,
    /// The flows of running executions, and whether they have dependents. Ending one needs both.
    memberships: HashMap<ExecutionId, (FlowId, bool)>,
    pub(super) partition_cache: PartitionCache,
    /// For how many more batches the ids of submissions are looked up before they are taken for new.
    pub(crate) cautious_batches: u32,
}

impl WriterCache {
    /// The part that stays valid where other sessions write too.
    pub(crate) fn without_records(self) -> Self {
        let (lanes, quotas) = (RecordSet::default(), RecordSet::default());
        Self { lanes, quotas, feeds: RecordSet::default(), ..self }
    }

    /// Caches which flow an execution belongs to, while it runs.
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

    /// The flow of a running execution, if cached, and whether it had dependents then.
    pub(crate) fn flow_of(&self, member: &ExecutionId) -> Option<(FlowId, bool)> {
        self.memberships.get(member).copied()
    }

    /// Notes the state of the store when a batch begins.
    pub(crate) fn note(&mut self, context: &TransactionContext) {
        (self.has_no_lanes, self.has_no_quotas) = (!context.has_lanes, !context.has_quotas);
        self.is_followed = context.is_followed;
    }

    /// The partitions among these whose feeds have to be loaded.
    pub(crate) fn unknown_feeds(&self, partitions: &[u16]) -> BTreeSet<u16> {
        let unknown = partitions.iter().filter(|partition| self.is_followed && !self.feeds.has(partition));
        unknown.copied().collect()
    }

    /// The cache once everything that a batch changed of it is stored.
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
