//! The scheduler: brings ready work to the workers that ask for it.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore};
use ff_core::lease::contracts::{ClaimedExecution, NextArgs};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::claimer::Claimer;
use crate::listener::{FlushRequest, Listener};
use crate::matchmaker::Matchmaker;
use crate::ready::WorkFilter;

/// Hands out work from all partitions of a store, to workers that wait for it.
///
/// Lanes are asked in the order they are preferred, and within a lane the partitions with the better heads first, so that
/// order is strict within a partition and nearly so across them. Work that becomes ready wakes one worker that can take
/// it, the one that has waited longest.
///
/// ```
/// # use std::sync::Arc;
/// # use ff_backend_memory::MemoryBackend;
/// # use ff_core::backend::{EngineStore, Perform};
/// # use ff_core::contracts::{NextArgs, SubmitArgs};
/// # use ff_core::lease::Holder;
/// # use ff_core::payload::Payload;
/// # use ff_core::types::{Kind, LaneId, Namespace, WorkerId, WorkerInstanceId};
/// use ff_scheduler::Scheduler;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(MemoryBackend::default());
/// let scheduler = Scheduler::start(store.clone());
/// store.submit(SubmitArgs::new(Kind::parse("resize")?, Payload::json("1"))).await?;
/// let claimed = scheduler
///     .next(NextArgs {
///         namespace: Namespace::default_name(),
///         lanes: vec![LaneId::default_name()],
///         kinds: vec![],
///         capabilities: Default::default(),
///         max: 10,
///         holder: Holder {
///             worker_id: WorkerId::parse("example")?,
///             worker_instance_id: WorkerInstanceId::parse("example-1")?,
///         },
///         lease_ttl_ms: 30_000,
///         wait_ms: 5_000,
///     })
///     .await?;
/// assert_eq!(claimed.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Scheduler {
    matchmaker: Arc<Matchmaker>,
    claimer: Arc<Claimer>,
    tasks: TaskTracker,
    flush_requests: mpsc::UnboundedSender<FlushRequest>,
    stopped: CancellationToken,
    _listening: DropGuard,
}

impl Scheduler {
    /// Starts a scheduler on the current runtime. It listens until it is stopped or dropped.
    ///
    /// It looks at every partition once and then asks the store only for claims, unless the store's hints can be lost.
    pub fn start(store: Arc<dyn EngineStore>) -> Arc<Self> {
        let matchmaker = Arc::new(Matchmaker::default());
        let stopped = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (flush_requests, flush_queue) = mpsc::unbounded_channel();
        // Made here rather than in the task, so that no hint given from now on is missed.
        let listener = Listener::new(store.clone(), matchmaker.clone(), flush_queue);
        tasks.spawn({
            let stopped = stopped.clone();
            async move { stopped.run_until_cancelled(listener.run()).await }
        });
        let listening = stopped.clone().drop_guard();
        let claimer = Claimer::new(store, matchmaker.clone(), tasks.clone());
        Arc::new(Self { matchmaker, claimer, tasks, flush_requests, stopped, _listening: listening })
    }

    /// Answers all waiting workers at once with nothing, and hands out nothing more.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Stops, and waits until the store is asked nothing more.
    pub async fn end(&self) {
        self.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Takes work from wherever there is some, waiting for it up to `wait_ms`. Empty when there was none in time.
    ///
    /// A caller that goes away leaves nothing behind: executions claimed for it by then are given back.
    pub async fn next(&self, args: NextArgs) -> Answer<Vec<ClaimedExecution>> {
        args.check()?;
        let args = Arc::new(args);
        let deadline = Instant::now() + Duration::from_millis(args.wait_ms);
        let wanted = Arc::new(WorkFilter::by(&args));
        if args.wait_ms == 0 {
            return self.next_at_once(&args, &wanted).await;
        }
        let place = self.matchmaker.place(wanted.clone());
        while !self.stopped.is_cancelled() {
            let offers = place.take_or_wait(self.claimer.partitions(args.max));
            if !offers.is_empty() {
                let claimed = self.claimer.claim_for(&args, &wanted, offers).await?;
                if !claimed.is_empty() {
                    return Ok(claimed);
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.stopped.cancelled() => break,
                () = place.called() => {}
                () = sleep_until(deadline) => break,
            }
        }
        Ok(Vec::new())
    }

    /// Claims ready work, including work that became ready just before the call.
    async fn next_at_once(&self, args: &Arc<NextArgs>, wanted: &Arc<WorkFilter>) -> Answer<Vec<ClaimedExecution>> {
        let take = || self.matchmaker.take(wanted, self.claimer.partitions(args.max));
        let mut claimed = Vec::new();
        if !self.stopped.is_cancelled() {
            claimed = self.claimer.claim_for(args, wanted, take()).await?;
        }
        if claimed.is_empty() && self.caught_up().await {
            claimed = self.claimer.claim_for(args, wanted, take()).await?;
        }
        match self.claimer.lately_away() {
            // It is not known that nothing is ready.
            Some(error) if claimed.is_empty() && !self.stopped.is_cancelled() => Err(error),
            _ => Ok(claimed),
        }
    }

    /// Waits until every hint given before this call has been heard. False when the listener has ended.
    async fn caught_up(&self) -> bool {
        let (asker, answered) = oneshot::channel();
        self.flush_requests.send(asker).is_ok() && answered.await.is_ok()
    }
}
