//! The record cache: the records a batch has loaded or written, kept for the next batch of the same writer while the session
//! holds the locks of its partitions. No other session can write there meanwhile, so no record has to be loaded again. A session
//! without a `lock_session` turns the cache off.

use std::collections::{BTreeSet, HashMap};

use ff_core::execution::Execution;
use ff_core::payload::Payload;
use ff_core::rule::change::Write;
use ff_core::rule::index::Score;
use ff_core::types::ExecutionId;

use super::loaded_execution::{LoadedExecution, PendingWrite};
use super::{BatchState, ClaimFilter, Flows, IndexPrefix, SuspensionRecords};

/// Maximum number of cached executions. Above it, finished ones are dropped; if there are still too many, the whole cache is dropped.
const EXECUTIONS: usize = 4_096;
/// Maximum number of cached records and lists of each kind: flows, waitpoints with signals, and lists of waiting executions.
/// Above it, all of the kind are dropped.
const MOST: usize = 1_024;
/// Maximum length of a cached list of waiting executions, because every claim reads the whole list.
const LONGEST: usize = 128;
/// Number of waiting executions that are loaded beyond a claim's limit, so that the next claims find them in the cache.
const READ_AHEAD: usize = 32;
/// Maximum size of a cached payload of an execution or a signal, equal to that of payloads loaded with waiting executions.
pub(super) const SMALL: usize = 4_096;

/// Cached records and lists, as stored.
#[derive(Default)]
pub(super) struct PartitionCache {
    /// The lock session in which they were loaded.
    lock_session: Option<u64>,
    /// The partitions that batches have locked since that session began.
    partitions: BTreeSet<u16>,
    loaded: HashMap<ExecutionId, LoadedExecution>,
    waiting: HashMap<ClaimFilter, IndexPrefix<(Score, ExecutionId)>>,
    small_payloads: HashMap<ExecutionId, Payload>,
    flows: Flows,
    suspensions: SuspensionRecords,
}

impl BatchState {
    /// Swaps the cached records with those of the batch state.
    pub(super) fn lay_out(&mut self) {
        let cache = &mut self.cache.partition_cache;
        std::mem::swap(&mut self.loaded, &mut cache.loaded);
        std::mem::swap(&mut self.waiting, &mut cache.waiting);
        std::mem::swap(&mut self.small_payloads, &mut cache.small_payloads);
        std::mem::swap(&mut self.flows, &mut cache.flows);
        std::mem::swap(&mut self.suspensions, &mut cache.suspensions);
    }

    /// Begins a batch on these partitions. Drops the cached records of another lock session, because other sessions may have written since.
    pub(crate) fn begin(&mut self, lock_session: Option<u64>, partitions: &[u16]) {
        if lock_session.is_none() || self.cache.partition_cache.lock_session != lock_session {
            self.lay_out();
            self.cache.partition_cache = PartitionCache { lock_session, ..PartitionCache::default() };
        }
        self.cache.partition_cache.partitions.extend(partitions);
    }

    /// Moves the records that the batch has loaded and written into the cache. All of them are stored by now.
    pub(super) fn put_by(&mut self) {
        if self.cache.partition_cache.lock_session.is_none() {
            self.cache.partition_cache = PartitionCache::default();
            return;
        }
        // Deleting an execution or a flow also deletes rows that were not loaded.
        if !self.going.is_empty() || !self.flows.gone.is_empty() {
            self.flows = Flows::default();
            self.suspensions = SuspensionRecords::default();
        }
        let partitions = std::mem::take(&mut self.cache.partition_cache.partitions);
        self.settle_waiting(&partitions);
        self.settle_executions(&partitions);
        if self.loaded.len().max(self.small_payloads.len()) > EXECUTIONS {
            self.cache.partition_cache = PartitionCache::default();
            return;
        }
        self.flows = std::mem::take(&mut self.flows).settled(&partitions);
        self.suspensions = std::mem::take(&mut self.suspensions).settled(&partitions);
        if self.flows.len() > MOST {
            self.flows = Flows::default();
        }
        if self.suspensions.len() > MOST {
            self.suspensions = SuspensionRecords::default();
        }
        self.lay_out();
        self.cache.partition_cache.partitions = partitions;
    }

    fn settle_waiting(&mut self, partitions: &BTreeSet<u16>) {
        let mut lists = std::mem::take(&mut self.waiting);
        lists.retain(|wanted, _| is_kept(wanted) && partitions.contains(&wanted.partition));
        for (wanted, list) in lists.iter_mut().filter(|(wanted, _)| self.changed.contains_key(&wanted.partition)) {
            list.settle(|(_, id)| self.has_changed(id), self.entered(wanted));
        }
        lists.retain(|_, list| list.members().len() <= LONGEST && !list.is_used_up());
        if lists.len() <= MOST {
            self.waiting = lists;
        }
    }

    /// Returns how many waiting executions to load in addition to the requested number.
    pub(super) fn read_ahead(&self, wanted: &ClaimFilter) -> usize {
        if self.cache.partition_cache.lock_session.is_some() && is_kept(wanted) { READ_AHEAD } else { 0 }
    }

    /// Keeps the small payloads that are about to be written, for the claims that will return them.
    pub(crate) fn keep_small(&mut self, payloads: &HashMap<ExecutionId, Write<Payload>>) {
        if self.cache.partition_cache.lock_session.is_none() {
            return;
        }
        for (id, write) in payloads {
            match write {
                Write::Put(payload) if payload.bytes.len() <= SMALL => {
                    self.small_payloads.insert(*id, payload.clone());
                }
                Write::Put(_) | Write::Remove | Write::ResultOf(_) => {
                    self.small_payloads.remove(id);
                }
                Write::Keep => {}
            }
        }
    }

    fn settle_executions(&mut self, partitions: &BTreeSet<u16>) {
        for id in self.changed.values().flatten() {
            let Some(loaded) = self.loaded.get_mut(id) else { continue };
            loaded.stored = match loaded.write.take() {
                Some(PendingWrite::Written(after)) => Ok(Some(*after)),
                Some(PendingWrite::Forgotten) => Ok(None),
                None => continue,
            };
            // Claims return the payload until the execution has finished.
            if loaded.stored().is_none_or(Execution::is_finished) {
                self.small_payloads.remove(id);
            }
        }
        let newly_loaded = std::mem::take(&mut self.newly_loaded);
        for id in newly_loaded.into_iter().chain(self.going.iter().copied()) {
            let is_there = self.loaded.get(&id).is_some_and(|loaded| loaded.stored().is_some());
            if !is_there || !partitions.contains(&id.partition()) {
                self.loaded.remove(&id);
            }
        }
        if self.loaded.len() > EXECUTIONS {
            self.loaded.retain(|_, loaded| loaded.stored().is_some_and(|execution| !execution.is_finished()));
        }
    }
}

/// Returns whether a list of waiting executions is cached. A list with ageing has only the highest priorities, so its first
/// members do not stay known. There may be many keys, so lists of keys are not cached.
fn is_kept(wanted: &ClaimFilter) -> bool {
    wanted.ageing_ms.is_none() && wanted.key.is_empty()
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::SubmitArgs;
    use ff_core::execution::{DelayReason, Execution, FinishedBy, Outcome, Phase};
    use ff_core::model::Model;
    use ff_core::operation::Ask;
    use ff_core::payload::Payload;
    use ff_core::rule::view::{EligibleQuery, View};
    use ff_core::types::TimestampMs;

    use super::*;
    use crate::batch_state::WriterCache;
    use crate::test_conditions::at;

    fn execution() -> Execution {
        let mut model = Model::default();
        let work = SubmitArgs::new("k".parse().unwrap(), Payload::default());
        model.execute(&work.into_operation(), &at(1)).unwrap();
        model.executions().next().unwrap().clone()
    }

    /// Returns the cache after a batch on these partitions that loaded an execution.
    fn after(lock_session: Option<u64>, partitions: &[u16], execution: &Execution) -> WriterCache {
        let mut state = BatchState::default();
        state.begin(lock_session, partitions);
        state.lay(execution.id, Ok(Some(execution.clone())));
        state.settled()
    }

    /// Returns whether a batch in a lock session finds an execution in the cache.
    fn is_known(cache: WriterCache, lock_session: Option<u64>, execution: &Execution) -> bool {
        let mut state = BatchState::with(cache);
        state.begin(lock_session, &[]);
        state.execution(&execution.id) == Ok(Some(execution))
    }

    #[test]
    fn records_are_kept_for_one_lock_session() {
        let execution = execution();
        let ours = [execution.id.partition()];
        assert!(is_known(after(Some(1), &ours, &execution), Some(1), &execution));
        assert!(!is_known(after(Some(1), &ours, &execution), Some(2), &execution), "others may have written");
        assert!(!is_known(after(Some(1), &ours, &execution), None, &execution));
        assert!(!is_known(after(None, &ours, &execution), None, &execution));
    }

    #[test]
    fn records_of_partitions_that_are_not_locked_are_not_kept() {
        let execution = execution();
        let another = [execution.id.partition() ^ 1];
        assert!(!is_known(after(Some(1), &another, &execution), Some(1), &execution));
    }

    #[test]
    fn the_next_batch_finds_records_written_by_the_last() {
        let before = execution();
        let changed = Execution { retries: 7, ..before.clone() };
        let mut state = BatchState::with(after(Some(1), &[before.id.partition()], &before));
        state.begin(Some(1), &[]);
        state.decide(before.id, PendingWrite::Written(Box::new(changed.clone())));
        let mut state = BatchState::with(state.settled());
        state.begin(Some(1), &[]);
        assert_eq!(state.execution(&before.id), Ok(Some(&changed)));
        assert_eq!(state.rewritten().count(), 0, "it is stored");
    }

    /// Returns the query of all executions of a lane on the partition of an execution.
    fn queue_of(execution: &Execution) -> EligibleQuery {
        let (partition, lane) = (execution.id.partition(), execution.lane_key());
        EligibleQuery {
            partition,
            lane,
            kinds: Vec::new(),
            classes: vec![execution.class()],
            key: execution.fair_key.clone(),
            limit: 9,
            ageing_ms: None,
        }
    }

    #[test]
    fn of_a_list_that_is_whole_it_is_known_what_became_of_it() {
        let waiting = execution();
        let (ours, queue) = ([waiting.id.partition()], queue_of(&waiting));
        let mut state = BatchState::default();
        state.begin(Some(1), &ours);
        state.lay_waiting(ClaimFilter::by(&queue), IndexPrefix::new(Vec::new(), 5));
        state.decide(waiting.id, PendingWrite::Written(Box::new(waiting.clone())));
        let mut state = BatchState::with(state.settled());
        state.begin(Some(1), &ours);
        assert_eq!(state.eligible(&queue), Ok(vec![waiting.id]), "it came");
        let delayed =
            Execution { phase: Phase::Delayed { until: TimestampMs(9), why: DelayReason::Submitted }, ..waiting };
        state.decide(delayed.id, PendingWrite::Written(Box::new(delayed)));
        let mut state = BatchState::with(state.settled());
        state.begin(Some(1), &ours);
        assert_eq!(state.eligible(&queue), Ok(vec![]), "it left");
        state.begin(Some(2), &ours);
        assert!(state.eligible(&queue).is_err(), "others may have written");
    }

    #[test]
    fn the_head_of_a_longer_list_is_cached_unless_ageing_applies() {
        let waiting = execution();
        let (ours, queue) = ([waiting.id.partition()], queue_of(&waiting));
        let mut state = BatchState::with(after(Some(1), &ours, &waiting));
        state.begin(Some(1), &ours);
        let wanted = ClaimFilter::by(&queue);
        let first = (wanted.score(waiting.priority, waiting.created_at), waiting.id);
        state.lay_waiting(wanted, IndexPrefix::new(vec![first], 1));
        let weighed = EligibleQuery { ageing_ms: Some(1_000), ..queue.clone() };
        state.lay_waiting(ClaimFilter::by(&weighed), IndexPrefix::new(Vec::new(), 1));
        let state = BatchState::with(state.settled());
        assert_eq!(state.eligible(&EligibleQuery { limit: 1, ..queue.clone() }), Ok(vec![waiting.id]));
        assert!(state.eligible(&EligibleQuery { limit: 2, ..queue }).is_err(), "the store may have more");
        assert!(state.eligible(&weighed).is_err(), "of many priorities only the highest are on it");
    }

    #[test]
    fn small_payloads_are_cached_until_the_execution_finishes() {
        let execution = execution();
        let write = |bytes: usize| HashMap::from([(execution.id, Write::Put(Payload::bytes(vec![0; bytes])))]);
        let keep = |cache, bytes: usize| {
            let mut state = BatchState::with(cache);
            state.begin(Some(1), &[execution.id.partition()]);
            state.keep_small(&write(bytes));
            let state = BatchState::with(state.settled());
            (state.small_payloads.contains_key(&execution.id), state.settled())
        };
        let cache = after(Some(1), &[execution.id.partition()], &execution);
        let (is_kept, cache) = keep(cache, SMALL);
        assert!(is_kept);
        assert!(!keep(cache, SMALL + 1).0, "and what it was before is no more");
        let cache = after(Some(1), &[execution.id.partition()], &execution);
        let mut state = BatchState::with(keep(cache, SMALL).1);
        state.begin(Some(1), &[]);
        let finished = Phase::Finished { outcome: Outcome::Success, at: TimestampMs(2), by: FinishedBy::Holder };
        state.decide(execution.id, PendingWrite::Written(Box::new(Execution { phase: finished, ..execution.clone() })));
        assert!(!BatchState::with(state.settled()).small_payloads.contains_key(&execution.id));
    }

    #[test]
    fn a_forgotten_execution_leaves_the_cache() {
        let execution = execution();
        let known_after = |going| {
            let mut state = BatchState::with(after(Some(1), &[execution.id.partition()], &execution));
            state.begin(Some(1), &[]);
            state.small_payloads.insert(execution.id, Payload::default());
            state.forget(going);
            let state = BatchState::with(state.settled());
            (state.execution(&execution.id).is_ok(), state.small_payloads.contains_key(&execution.id))
        };
        assert_eq!(known_after(ExecutionId::new(0, uuid::Uuid::nil())), (true, true));
        assert_eq!(known_after(execution.id), (false, false));
    }
}
