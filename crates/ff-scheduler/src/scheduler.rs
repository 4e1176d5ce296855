//! The scheduler: hands out ready work to the workers that ask for it.

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

/// Hands out work from all partitions of a store to the workers that wait for it.
///
/// It claims from lanes in the order of preference, and within a lane from the partitions with the better heads first. So order is
/// strict within a partition, and nearly strict across partitions. Work that becomes ready wakes the worker that has waited
/// longest and can take it.
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
    /// It sweeps every partition once. Then it calls the store only for claims, for counts of lanes with a limit, and for a sweep
    /// when hints were lost.
    pub fn start(store: Arc<dyn EngineStore>) -> Arc<Self> {
        let matchmaker = Arc::new(Matchmaker::default());
        let stopped = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (flush_requests, flush_queue) = mpsc::unbounded_channel();
        // Created here rather than in the task, so that no hint sent after this call is missed.
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

    /// Stops, and waits until the scheduler makes no more calls to the store.
    pub async fn end(&self) {
        self.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Claims ready work, and waits for it up to `wait_ms`. Returns nothing when there was none in time.
    ///
    /// If the caller goes away, executions claimed for it are given back.
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
            // Work may be ready on the partition that did not answer.
            Some(error) if claimed.is_empty() && !self.stopped.is_cancelled() => Err(error),
            _ => Ok(claimed),
        }
    }

    /// Waits until every hint sent before this call has been handled. Returns false when the listener has ended.
    async fn caught_up(&self) -> bool {
        self.claimer.hints_arrived().await;
        let (asker, answered) = oneshot::channel();
        self.flush_requests.send(asker).is_ok() && answered.await.is_ok()
    }
}
