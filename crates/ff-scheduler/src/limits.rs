//! Lanes with a limit: when something of one ends, there is room for what is held back of it.

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

/// How long what is held back waits at first before it is tried again untold: as long as a lane's home takes a count for
/// fresh.
const FIRST_TRY: Duration = Duration::from_millis(limits::RECOUNT_MS);

/// How long at most. Not everything that makes room is told: a grant may be lost with who asked for it, and what was held
/// before there was a limit ends without a word.
const LONGEST_TRY: Duration = Duration::from_secs(8);

/// Looks after what lanes with a limit hold back.
pub(crate) struct Limits {
    store: Arc<dyn EngineStore>,
    matchmaker: Arc<Matchmaker>,
    /// Where something ended that has not been counted, by lane.
    freed: BTreeMap<LaneId, BTreeSet<u16>>,
    /// Tasks of their own: a call may hold a lock or a connection of the store, and goes on whatever else is waited for.
    counting: JoinSet<(LaneId, Answer<()>)>,
    /// Lanes that are being counted. What ends meanwhile is counted after it.
    busy: BTreeSet<LaneId>,
    tries: HashMap<LaneId, LaneRetry>,
}

/// When a lane is tried again though nothing is told.
struct LaneRetry {
    at: Instant,
    after: Duration,
}

impl Limits {
    pub(crate) fn new(store: Arc<dyn EngineStore>, matchmaker: Arc<Matchmaker>) -> Self {
        let (freed, counting, busy) = (BTreeMap::new(), JoinSet::new(), BTreeSet::new());
        Self { store, matchmaker, freed, counting, busy, tries: HashMap::new() }
    }

    /// Something of a lane with a limit ended on a partition.
    pub(crate) fn freed(&mut self, partition: u16, lane: LaneId) {
        self.freed.entry(lane).or_default().insert(partition);
    }

    /// Whether everything that ended has been counted.
    pub(crate) fn is_through(&self) -> bool {
        self.freed.is_empty() && self.counting.is_empty()
    }

    /// Counts what ended and lets go what is held back of it, and tries from time to time what nobody told of. Comes back
    /// after every step. Dropping the future loses nothing.
    pub(crate) async fn turn(&mut self) {
        self.count();
        self.plan();
        let next = self.tries.iter().min_by_key(|(_, of)| of.at).map(|(lane, of)| (lane.clone(), of.at));
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

    /// Begins to count the lanes on which something ended.
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
            self.store.outages().noted("lane count", &error);
        }
        self.tries.remove(&lane);
        self.busy.remove(&lane);
        self.matchmaker.let_go(&lane);
    }

    /// Sees to it that every lane of which something is held back is tried again some time.
    fn plan(&mut self) {
        let limited = self.matchmaker.limited();
        for lane in limited {
            let first = || LaneRetry { at: Instant::now() + FIRST_TRY, after: FIRST_TRY };
            self.tries.entry(lane).or_insert_with(first);
        }
    }

    fn try_again(&mut self, lane: &LaneId) {
        if let Some(LaneRetry { at, after }) = self.tries.get_mut(lane) {
            *after = (*after * 2).min(LONGEST_TRY);
            *at = Instant::now() + *after;
        }
        self.matchmaker.let_go(lane);
    }
}

/// Comes at a moment; never, when there is none.
async fn alarm(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
