//! Routing: ready work whose requirements no live worker meets leaves its queue after a grace, and returns when such a worker
//! registers. The task sleeps while no work with requirements is ready or blocked on its engine's partitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    BlockArgs, BlockTarget, ListQueueArgs, ListWorkersArgs, QueueState, QueuedExecution, UnblockArgs, WorkQueue,
};
use ff_core::execution::{BlockDetail, Blocker};
use ff_core::limits;
use ff_core::worker::Worker;
use futures_util::{StreamExt, stream};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Interval at which the live workers are read again while work with requirements is ready. A worker that is gone sends no hint.
const REFRESH: Duration = Duration::from_secs(5);

/// Delay after the store did not answer.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Maximum number of queues moved at the same time.
const AT_ONCE: usize = 16;

/// Maximum number of queues with a capable worker that one round looks at, to forget empty ones.
const LOOKED_AT: usize = 16;

/// A queue on a partition.
type Place = (u16, WorkQueue);

/// News from the pump to the routing task, about work with requirements.
#[derive(Clone, Default)]
pub(crate) struct RoutingNews(Arc<(Mutex<News>, Notify)>);

#[derive(Default)]
struct News {
    ready: BTreeSet<Place>,
    unroutable: BTreeSet<Place>,
    workers_changed: bool,
    /// The partitions the engine acts for from now on, if they have changed.
    owned: Option<BTreeSet<u16>>,
}

impl RoutingNews {
    /// Notes that work with requirements is ready in a queue.
    pub(crate) fn ready(&self, partition: u16, queue: WorkQueue) {
        self.notify(|news| news.ready.insert((partition, queue)));
    }

    /// Notes that work of a queue is blocked.
    pub(crate) fn unroutable(&self, partition: u16, queue: WorkQueue) {
        self.notify(|news| news.unroutable.insert((partition, queue)));
    }

    /// Notes that a worker with capabilities registered.
    pub(crate) fn workers_changed(&self) {
        self.notify(|news| news.workers_changed = true);
    }

    /// Notes that the engine acts for these partitions from now on.
    pub(crate) fn owned(&self, partitions: BTreeSet<u16>) {
        self.notify(|news| news.owned = Some(partitions));
    }

    fn notify<T>(&self, change: impl FnOnce(&mut News) -> T) {
        change(&mut self.lock());
        self.0.1.notify_one();
    }

    fn take(&self) -> News {
        std::mem::take(&mut self.lock())
    }

    async fn changed(&self) {
        self.0.1.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Routing {
    store: Arc<dyn EngineStore>,
    news: RoutingNews,
    grace: Duration,
    /// Queues in which work was ready, and the time at which that became known.
    ready: BTreeMap<Place, Instant>,
    /// Queues with blocked work.
    unroutable: BTreeSet<Place>,
    workers: Vec<Worker>,
    /// Time of the last reading of the workers; `None` when they must be read again.
    workers_read: Option<Instant>,
}

impl Routing {
    pub(crate) fn new(store: Arc<dyn EngineStore>, news: RoutingNews, grace: Duration) -> Self {
        let (ready, unroutable, workers) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        Self { store, news, grace, ready, unroutable, workers, workers_read: None }
    }

    /// Runs while it is polled.
    pub(crate) async fn run(mut self) {
        loop {
            self.learn();
            let next = match self.round().await {
                Ok(next) => next,
                Err(error) => {
                    self.store.outages().log_failure("routing", &error);
                    self.workers_read = None;
                    Some(Instant::now() + AFTER_FAILURE)
                }
            };
            match next {
                // The next round is due either way.
                Some(at) => drop(timeout_at(at, self.news.changed()).await),
                None => self.news.changed().await,
            }
        }
    }

    fn learn(&mut self) {
        let News { ready, unroutable, workers_changed, owned } = self.news.take();
        let now = Instant::now();
        for place in ready {
            self.ready.entry(place).or_insert(now);
        }
        self.unroutable.extend(unroutable);
        if let Some(owned) = owned {
            self.ready.retain(|(partition, _), _| owned.contains(partition));
            self.unroutable.retain(|(partition, _)| owned.contains(partition));
        }
        if workers_changed {
            self.workers_read = None;
        }
    }

    /// Releases work that a worker can run, blocks work that no worker can run, and returns the time of the next round.
    async fn round(&mut self) -> Answer<Option<Instant>> {
        if self.ready.is_empty() && self.unroutable.is_empty() {
            return Ok(None);
        }
        if self.workers_read.is_none_or(|at| at.elapsed() >= REFRESH) {
            self.workers = live_workers(&*self.store).await?;
            self.workers_read = Some(Instant::now());
        }
        self.release().await?;
        self.block().await?;
        self.forget_empty().await?;
        let blocked = self.ready.values().map(|since| *since + self.grace);
        let refreshed = self.workers_read.map(|at| at + REFRESH);
        let refreshed = refreshed.filter(|_| !self.ready.is_empty());
        // Where hints can be lost, the hint that a worker registered may be lost too.
        let swept = self.store.sweep_every().map(|every| Instant::now() + every);
        let due = blocked.filter(|at| *at > Instant::now()).chain(refreshed).chain(swept).min();
        Ok(due.map(|at| at.max(Instant::now())))
    }

    async fn release(&mut self) -> Answer<()> {
        let released: Vec<_> = self.unroutable.iter().filter(|(_, queue)| self.is_routable(queue)).cloned().collect();
        let store = &*self.store;
        let moved = stream::iter(released).map(|place| async move { (release(store, &place).await, place) });
        let mut moved = moved.buffer_unordered(AT_ONCE);
        let mut done = Vec::new();
        while let Some((answer, place)) = moved.next().await {
            answer?;
            done.push(place);
        }
        drop(moved);
        self.unroutable.retain(|place| !done.contains(place));
        Ok(())
    }

    async fn block(&mut self) -> Answer<()> {
        let is_due = |since: &Instant| since.elapsed() >= self.grace;
        let due = self.ready.iter().filter(|((_, queue), since)| is_due(since) && !self.is_routable(queue));
        let due: Vec<Place> = due.map(|(place, _)| place.clone()).collect();
        let store = &*self.store;
        let moved = stream::iter(due).map(|place| async move { (block(store, &place).await, place) });
        let mut moved = moved.buffer_unordered(AT_ONCE);
        let mut done = Vec::new();
        while let Some((answer, place)) = moved.next().await {
            done.push((place, answer?));
        }
        drop(moved);
        for (place, count) in done {
            self.ready.remove(&place);
            if count > 0 {
                tracing::info!(lane = %place.1.lane, class = %place.1.class, count, "no worker meets the requirements");
                self.unroutable.insert(place);
            }
        }
        Ok(())
    }

    /// Forgets queues that workers have emptied, so that the task sleeps when none is left.
    async fn forget_empty(&mut self) -> Answer<()> {
        let old = self.ready.iter().filter(|(_, since)| since.elapsed() >= self.grace);
        let old: Vec<Place> = old.map(|(place, _)| place.clone()).take(LOOKED_AT).collect();
        for place in old {
            if list(&*self.store, &place, QueueState::Ready, 1).await?.is_empty() {
                self.ready.remove(&place);
            }
        }
        Ok(())
    }

    /// Returns whether a live worker takes work of a queue.
    fn is_routable(&self, queue: &WorkQueue) -> bool {
        self.workers.iter().any(|worker| queue.is_served_by(worker))
    }
}

/// Returns every live worker with capabilities.
async fn live_workers(store: &dyn EngineStore) -> Answer<Vec<Worker>> {
    let (mut workers, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_workers(ListWorkersArgs { namespace: None, after, limit: limits::PAGE }).await?;
        workers.extend(page.workers.into_iter().filter(|worker| !worker.capabilities.is_empty()));
        after = page.next;
        if after.is_none() {
            return Ok(workers);
        }
    }
}

/// Blocks all ready work of a queue in steps. Returns the number of executions blocked.
async fn block(store: &dyn EngineStore, place: &Place) -> Answer<usize> {
    let (partition, queue) = place;
    let detail = BlockDetail::Route { class: queue.class.to_string() };
    let mut count = 0;
    loop {
        let ready = list(store, place, QueueState::Ready, limits::BLOCK).await?;
        let target = |QueuedExecution { execution_id, lease_epoch }: &QueuedExecution| BlockTarget {
            execution_id: *execution_id,
            lease_epoch: *lease_epoch,
            detail: detail.clone(),
        };
        let executions: Vec<_> = ready.iter().map(target).collect();
        if executions.is_empty() {
            return Ok(count);
        }
        let blocked = store.block(BlockArgs { partition: *partition, executions }).await?.blocked;
        count += blocked;
        // Work that was claimed in the meantime has left the queue.
        if blocked == 0 || ready.len() < limits::BLOCK {
            return Ok(count);
        }
    }
}

/// Makes all blocked work of a queue ready again, in steps.
async fn release(store: &dyn EngineStore, place: &Place) -> Answer<()> {
    let partition = place.0;
    loop {
        let blocked = list(store, place, QueueState::Unroutable, limits::BLOCK).await?;
        let executions: Vec<_> = blocked.iter().map(|queued| queued.execution_id).collect();
        if executions.is_empty() {
            return Ok(());
        }
        let args = UnblockArgs { partition, executions, from: Blocker::Route };
        let released = store.unblock(args).await?.count();
        if released == 0 || blocked.len() < limits::BLOCK {
            return Ok(());
        }
    }
}

async fn list(
    store: &dyn EngineStore,
    (partition, queue): &Place,
    state: QueueState,
    limit: usize,
) -> Answer<Vec<QueuedExecution>> {
    store.list_queue(ListQueueArgs { partition: *partition, queue: queue.clone(), state, limit }).await
}
