//! The batch state: the records a batch has loaded, with its changes so far on top. Rules read through it, so each operation sees
//! the changes of those before it. Nothing is written before all operations are decided.

mod claim_filter;
mod events;
mod flows;
mod index_prefix;
mod loaded_execution;
mod missing;
mod partition_cache;
mod record_set;
mod registry;
mod side_writes;
mod steps;
mod streams;
mod suspensions;
mod turns;
mod view;
mod writer_cache;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use ff_core::api_key::ApiKey;
use ff_core::backend::hint::{Hint, delivered, flow_hints, hints, streamed};
use ff_core::budget::UsageReportEntry;
use ff_core::contracts::ClaimArgs;
use ff_core::event::Feed;
use ff_core::execution::Execution;
use ff_core::flow::FlowChange;
use ff_core::payload::Payload;
use ff_core::quota::{QuotaRow, QuotaRowName};
use ff_core::rule::change::{Change, KeyEntry};
use ff_core::rule::index::Score;
use ff_core::schedule::{Schedule, ScheduleRef};
use ff_core::singleton::KeyQueue;
use ff_core::step::StepCounter;
use ff_core::types::{
    ExecutionId, FlowId, IdempotencyKey, KeyId, LaneId, Namespace, QuotaPolicyId, TimestampMs, WorkerInstanceId,
};
use ff_core::worker::Worker;

use crate::singleton::QueueId;
pub(crate) use claim_filter::ClaimFilter;
pub(crate) use events::EventBuffer;
pub(crate) use flows::{EdgeRange, Flows, Members, all_into};
pub(crate) use index_prefix::IndexPrefix;
use loaded_execution::{LoadedExecution, PendingWrite};
pub(crate) use record_set::{RecordSet, StoredRecord};
pub(crate) use side_writes::SideWrites;
pub(crate) use steps::{StepChanges, StepIdentity, StepRecords};
pub(crate) use streams::{StreamName, StreamRecords};
pub(crate) use suspensions::{NewSignal, SuspensionRecords};
pub(crate) use turns::{TurnList, Turns, list_of};
pub use writer_cache::WriterCache;

/// The loaded records and the pending writes of a batch.
#[derive(Default)]
pub(crate) struct BatchState {
    loaded: HashMap<ExecutionId, LoadedExecution>,
    /// The executions put into `loaded` since the batch began.
    newly_loaded: Vec<ExecutionId>,
    /// Executions that count as absent without having been looked up.
    taken_for_new: HashSet<ExecutionId>,
    keys: HashMap<(Namespace, IdempotencyKey), Option<KeyEntry>>,
    waiting: HashMap<ClaimFilter, IndexPrefix<(Score, ExecutionId)>>,
    due: HashMap<u16, IndexPrefix<(TimestampMs, ExecutionId)>>,
    /// Changed executions of each partition, in the order of their first change.
    changed: HashMap<u16, Vec<ExecutionId>>,
    /// Executions to delete with all their rows, even if a new execution takes the id.
    going: BTreeSet<ExecutionId>,
    /// Number of stored leases of a lane on a partition.
    held_counts: HashMap<(u16, LaneId), u32>,
    /// Payloads that were loaded with waiting executions or written by the last batches. A change by this batch takes precedence.
    pub(crate) small_payloads: HashMap<ExecutionId, Payload>,
    pub(crate) side_writes: SideWrites,
    pub(crate) suspensions: SuspensionRecords,
    pub(crate) streams: StreamRecords,
    pub(crate) steps: StepRecords,
    pub(crate) flows: Flows,
    pub(crate) cache: WriterCache,
    pub(crate) workers: RecordSet<WorkerInstanceId, Worker>,
    pub(crate) api_keys: RecordSet<KeyId, ApiKey>,
    pub(crate) quota_rows: RecordSet<(QuotaPolicyId, QuotaRowName), QuotaRow>,
    pub(crate) usage_reports: RecordSet<(ExecutionId, IdempotencyKey), UsageReportEntry>,
    pub(crate) key_queues: RecordSet<QueueId, KeyQueue>,
    pub(crate) turns: Turns,
    pub(crate) schedules: RecordSet<(u16, ScheduleRef), Schedule>,
    pub(crate) events: EventBuffer,
    pub(crate) hints: Vec<Hint>,
    /// Flows that already have a hint in this commit: each needs only one.
    moved: HashSet<FlowId>,
}

impl BatchState {
    /// Creates a state over the writer's cache.
    pub(crate) fn with(cache: WriterCache) -> Self {
        let mut state = Self { cache, ..Self::default() };
        state.lay_out();
        state
    }

    /// Returns the cache, once everything in this state is stored.
    pub(crate) fn settled(mut self) -> WriterCache {
        self.put_by();
        self.cache.settled()
    }

    /// Returns the unchanged cache, for a batch that decided nothing.
    pub(crate) fn withdrawn(mut self) -> WriterCache {
        for id in std::mem::take(&mut self.newly_loaded) {
            self.loaded.remove(&id);
        }
        self.lay_out();
        self.cache
    }

    /// Loads the stored record of an id, unless it is loaded already: all reads of a batch see one snapshot.
    pub(crate) fn lay(&mut self, id: ExecutionId, stored: StoredRecord<Execution>) {
        if let Entry::Vacant(place) = self.loaded.entry(id) {
            place.insert(LoadedExecution { stored, write: None });
            self.newly_loaded.push(id);
        }
    }

    /// Marks an execution as absent, unless it is loaded.
    pub(crate) fn take_for_new(&mut self, id: ExecutionId) {
        if !self.has(&id) {
            self.lay(id, Ok(None));
            self.taken_for_new.insert(id);
        }
    }

    /// Returns whether an execution counts as absent without having been looked up.
    pub(crate) fn was_taken_for_new(&self, id: &ExecutionId) -> bool {
        self.taken_for_new.contains(id)
    }

    /// Returns whether the stored record of an id is loaded.
    pub(crate) fn has(&self, id: &ExecutionId) -> bool {
        self.loaded.contains_key(id)
    }

    pub(crate) fn lay_key(&mut self, namespace: Namespace, key: IdempotencyKey, entry: Option<KeyEntry>) {
        self.keys.entry((namespace, key)).or_insert(entry);
    }

    pub(crate) fn lay_waiting(&mut self, wanted: ClaimFilter, list: IndexPrefix<(Score, ExecutionId)>) {
        self.waiting.insert(wanted, list);
    }

    pub(crate) fn lay_held(&mut self, partition: u16, lane: LaneId, count: u32) {
        self.held_counts.insert((partition, lane), count);
    }

    pub(crate) fn lay_due(&mut self, partition: u16, list: IndexPrefix<(TimestampMs, ExecutionId)>) {
        self.due.insert(partition, list);
    }

    /// Returns the known waiting executions that match a claim.
    pub(crate) fn waiting(&self, claim: &ClaimArgs) -> impl Iterator<Item = &ExecutionId> {
        let lists = self.waiting.iter().filter(|(wanted, _)| wanted.is_for(claim));
        lists.flat_map(|(_, list)| list.members()).map(|(_, id)| id)
    }

    /// Applies a rule's change of an execution.
    pub(crate) fn apply(&mut self, mut change: Change) {
        let id = change.after.id;
        if self.events.record(&self.cache, &change) {
            self.hints.push(Hint::EventRecorded { partition: id.partition() });
        }
        let before = self.current(&id);
        if before == Some(&change.after)
            && SideWrites::is_untouched_by(&change)
            && SuspensionRecords::is_untouched_by(&change)
            && change.stream.is_none()
            && change.steps.is_none()
            && change.usage_report.is_none()
        {
            return;
        }
        let (new_hints, is_new) = (hints(before, &change.after), before.is_none());
        self.hints.extend(new_hints);
        self.hints.extend(delivered(&change));
        self.hints.extend(streamed(&change));
        self.cache.see(&change.after);
        self.suspensions.take(&mut change);
        self.streams.take(&mut change);
        self.steps.take(&mut change);
        if let Some(entry) = change.usage_report.take() {
            self.usage_reports.write((id, entry.report_id.clone()), entry);
        }
        if let Some(entry) = &change.key {
            self.keys.insert((entry.namespace.clone(), entry.key.clone()), Some(entry.clone()));
        }
        if let Some(membership) = change.after.membership.as_ref().filter(|_| is_new) {
            self.flows.add_member(membership.flow_id, id);
        }
        let after = self.side_writes.take(change);
        self.decide(id, PendingWrite::Written(Box::new(after)));
    }

    /// Applies the change of a flow. Needs the edges into deleted members to be loaded.
    pub(crate) fn apply_to_flow(&mut self, change: FlowChange) {
        let before = self.flows.flows.find(&change.after.id).flatten();
        let mut new_hints = flow_hints(before, &change);
        new_hints.retain(|hint| !matches!(hint, Hint::FlowMoved { flow_id } if !self.moved.insert(*flow_id)));
        self.hints.extend(new_hints);
        change.forgotten.iter().for_each(|id| self.forget(*id));
        self.flows.take(change);
    }

    /// Deletes an execution with all its rows. Needs the entry of its idempotency key to be loaded.
    pub(crate) fn forget(&mut self, id: ExecutionId) {
        if let Some(name) = self.current(&id).and_then(key_name)
            && let Some(Some(entry)) = self.keys.get(&name)
            && entry.execution_id == id
        {
            self.side_writes.free(entry.clone());
            self.keys.insert(name, None);
        }
        self.side_writes.forget(&id);
        self.suspensions.forget(&id);
        self.streams.forget(&id);
        self.usage_reports.forget(|(of, _)| *of == id);
        if self.counted_steps(&id).is_some() {
            self.steps.clear(id);
        }
        self.going.insert(id);
        self.decide(id, PendingWrite::Forgotten);
    }

    /// Applies the change of a partition's feed.
    pub(crate) fn follow(&mut self, partition: u16, feed: Feed) {
        self.events.follow(&mut self.cache, partition, feed);
    }

    /// Returns every execution to write, as stored and as changed.
    pub(crate) fn rewritten(&self) -> impl Iterator<Item = (Option<&Execution>, &Execution)> {
        self.changed.values().flatten().filter_map(|id| self.loaded.get(id)).filter_map(LoadedExecution::rewritten)
    }

    /// Returns every execution to delete, as stored.
    pub(crate) fn going(&self) -> impl Iterator<Item = (&ExecutionId, Option<&Execution>)> {
        self.going.iter().map(|id| (id, self.loaded.get(id).and_then(LoadedExecution::stored)))
    }

    /// Returns whether an execution is deleted, even if a new one has taken its id.
    pub(crate) fn is_being_forgotten(&self, id: &ExecutionId) -> bool {
        self.going.contains(id)
    }

    /// Returns every execution that is deleted and not replaced by a new one.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = &ExecutionId> {
        self.changed.values().flatten().filter(|id| self.loaded.get(id).is_some_and(LoadedExecution::is_forgotten))
    }

    fn decide(&mut self, id: ExecutionId, write: PendingWrite) {
        self.lay(id, Ok(None));
        if let Some(loaded) = self.loaded.get_mut(&id)
            && loaded.write.replace(write).is_none()
        {
            self.changed.entry(id.partition()).or_default().push(id);
        }
    }

    fn current(&self, id: &ExecutionId) -> Option<&Execution> {
        self.loaded.get(id)?.current().ok()?
    }

    /// Returns the step counter of an execution, with the batch's changes so far.
    pub(crate) fn counted_steps(&self, id: &ExecutionId) -> Option<StepCounter> {
        self.current(id)?.steps
    }

    fn has_changed(&self, id: &ExecutionId) -> bool {
        self.loaded.get(id).is_some_and(|loaded| loaded.write.is_some())
    }

    /// Returns the changed executions of a partition, as stored and as changed.
    fn changes_on(&self, partition: u16) -> impl Iterator<Item = (Option<&Execution>, Option<&Execution>)> {
        let loaded = self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.loaded.get(id));
        loaded.map(|loaded| (loaded.stored(), loaded.current().ok().flatten()))
    }

    /// Returns the changed executions that match a claim filter now.
    fn entered(&self, wanted: &ClaimFilter) -> impl Iterator<Item = (Score, ExecutionId)> {
        let suspensions = self.changed_on(wanted.partition).filter(|execution| wanted.covers(execution));
        suspensions.map(|execution| (wanted.score(execution.priority, execution.created_at), execution.id))
    }

    fn changed_on(&self, partition: u16) -> impl Iterator<Item = &Execution> {
        self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.current(id))
    }
}

/// Returns the namespace and the idempotency key that an execution was submitted under.
fn key_name(execution: &Execution) -> Option<(Namespace, IdempotencyKey)> {
    Some((execution.namespace.clone(), execution.idempotency_key.clone()?))
}
