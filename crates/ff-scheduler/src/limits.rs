//! Lanes with a limit: the end of an execution frees capacity for work that is held back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore};
use ff_core::limits;
use ff_core::types::LaneId;
use ff_engine::Orchestration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::matchmaker::Matchmaker;

/// First delay before held-back work is tried again without a hint. It equals the time for which the lane's home treats a count as
/// fresh.
const FIRST_TRY: Duration = Duration::from_millis(limits::RECOUNT_MS);

/// Maximum delay. Some capacity becomes free without a hint: a grant may be lost with its caller, and executions held before the
/// limit was set end without one.
const LONGEST_TRY: Duration = Duration::from_secs(8);

/// Retries the work that lanes with a limit hold back.
pub(crate) struct Limits {
    store: Arc<dyn EngineStore>,
    matchmaker: Arc<Matchmaker>,
    /// Partitions with ended executions that have not been counted, by lane.
    freed: BTreeMap<LaneId, BTreeSet<u16>>,
    /// Separate tasks: a call may hold a lock or a connection of the store, and must make progress while other tasks run.
    counting: JoinSet<(LaneId, Answer<()>)>,
    /// Lanes that are being counted. Executions that end in the meantime are counted afterwards.
    busy: BTreeSet<LaneId>,
    retries: HashMap<LaneId, LaneRetry>,
}

/// The next retry of a lane without a hint, and its delay.
struct LaneRetry {
    at: Instant,
    after: Duration,
}

impl Limits {
    pub(crate) fn new(store: Arc<dyn EngineStore>, matchmaker: Arc<Matchmaker>) -> Self {
        let (freed, counting, busy) = (BTreeMap::new(), JoinSet::new(), BTreeSet::new());
        Self { store, matchmaker, freed, counting, busy, retries: HashMap::new() }
    }

    /// Notes that an execution of a lane with a limit ended on a partition.
    pub(crate) fn freed(&mut self, partition: u16, lane: LaneId) {
        self.freed.entry(lane).or_default().insert(partition);
    }

    /// Returns whether every end has been counted.
    pub(crate) fn is_through(&self) -> bool {
        self.freed.is_empty() && self.counting.is_empty()
    }

    /// Counts ended executions and releases the work their lanes hold back. Retries at intervals, because a hint may be lost.
    /// Returns after every step. Dropping the future loses nothing.
    pub(crate) async fn turn(&mut self) {
        self.count();
        self.plan();
        let next = self.retries.iter().min_by_key(|(_, of)| of.at).map(|(lane, of)| (lane.clone(), of.at));
        let at = next.as_ref().map(|(_, at)| *at);
        tokio::select! {
            Some(counted) = self.counting.join_next() => match counted {
                Ok((lane, counted)) => self.counted(lane, counted),
                Err(panicked) => resume_unwind(panicked.into_panic()),
            },
            () = self.matchmaker.holding() => {}
            () = alarm(at) => {
                if let Some((lane, _)) = next {
                    self.try_again(&lane);
                }
            }
        }
    }

    /// Starts to count the lanes with ended executions.
    fn count(&mut self) {
        let idle = self.freed.keys().filter(|lane| !self.busy.contains(*lane)).cloned();
        for lane in idle.collect::<Vec<_>>() {
            let Some(partitions) = self.freed.remove(&lane) else { continue };
            let store = self.store.clone();
            self.busy.insert(lane.clone());
            self.counting.spawn(async move {
                let counted = store.recount_and_settle(&lane, partitions.into_iter().collect()).await;
                (lane, counted)
            });
        }
    }

    fn counted(&mut self, lane: LaneId, counted: Answer<()>) {
        if let Err(error) = counted {
            self.store.outages().log_failure("lane count", &error);
        }
        self.retries.remove(&lane);
        self.busy.remove(&lane);
        self.matchmaker.release(&lane);
    }

    /// Schedules a retry for every lane with held-back work.
    fn plan(&mut self) {
        let limited = self.matchmaker.limited();
        for lane in limited {
            let first = || LaneRetry { at: Instant::now() + FIRST_TRY, after: FIRST_TRY };
            self.retries.entry(lane).or_insert_with(first);
        }
    }

    fn try_again(&mut self, lane: &LaneId) {
        if let Some(LaneRetry { at, after }) = self.retries.get_mut(lane) {
            *after = (*after * 2).min(LONGEST_TRY);
            *at = Instant::now() + *after;
        }
        self.matchmaker.release(lane);
    }
}

/// Completes at a time; never without one.
async fn alarm(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
