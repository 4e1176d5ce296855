//! What a writer keeps in mind from one batch to the next: how lanes are configured and which feeds somebody follows, which
//! are looked at all the time and hardly ever change, and which flow an execution belongs to, which never does.

use std::collections::{BTreeSet, HashMap};

use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::lane::Lane;
use ff_core::types::{ExecutionId, FlowId, LaneId};

use super::RecordSet;
use super::partition_cache::PartitionCache;
use crate::session::TransactionContext;

/// How many lanes are kept in mind, counted once on each partition. Past it they are looked up anew.
const LANES: usize = 100_000;
/// How many members of flows are kept in mind. Past it they are found to be members only once they are loaded.
const MEMBERS: usize = 10_000;

/// Lanes and feeds, those that nobody configured or follows among them.
#[derive(Default)]
pub struct WriterCache {
    pub(crate) lanes: RecordSet<(u16, LaneId), Lane>,
    pub(crate) feeds: RecordSet<u16, Feed>,
    /// Whether the store has no lane that somebody configured, and whether anybody follows what happens in it. Until a
    /// batch begins this is as the one before it found it, and what is asked ahead counts on it.
    pub(crate) has_no_lanes: bool,
    is_followed: bool,
    /// The flows of executions that somebody works on, and whether others wait for their end. Whoever ends one asks for both.
    memberships: HashMap<ExecutionId, (FlowId, bool)>,
    pub(super) partition_cache: PartitionCache,
}

impl WriterCache {
    /// What is left to count on where others write too.
    pub(crate) fn without_records(self) -> Self {
        Self { lanes: RecordSet::default(), feeds: RecordSet::default(), ..self }
    }

    /// Keeps in mind which flow an execution belongs to, for as long as somebody works on it.
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

    /// The flow that an execution somebody works on is known to belong to, and whether others waited for it when it was seen.
    pub(crate) fn flow_of(&self, member: &ExecutionId) -> Option<(FlowId, bool)> {
        self.memberships.get(member).copied()
    }

    /// Takes note of the circumstances a batch begins under.
    pub(crate) fn note(&mut self, context: &TransactionContext) {
        (self.has_no_lanes, self.is_followed) = (!context.has_lanes, context.is_followed);
    }

    /// The partitions among these of which it has to be found out who follows them.
    pub(crate) fn unknown_feeds(&self, partitions: &[u16]) -> BTreeSet<u16> {
        let unknown = partitions.iter().filter(|partition| self.is_followed && !self.feeds.has(partition));
        unknown.copied().collect()
    }

    /// What is known once everything that a batch changed of it is stored.
    pub(crate) fn settled(mut self) -> Self {
        self.lanes.settle();
        self.feeds.settle();
        if self.lanes.len() > LANES {
            self.lanes = RecordSet::default();
        }
        self
    }
}
