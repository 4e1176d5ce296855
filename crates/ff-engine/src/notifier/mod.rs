//! The board: tells callers that wait what happened, as soon as it happens.

mod lost;
mod wait_set;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore};
use ff_core::engine_error::EngineError;
use ff_core::event::contracts::{EventsArgs, EventsPage};
use ff_core::execution::contracts::ExecutionEnd;
use ff_core::flow::contracts::{FlowEnd, FlowEventsArgs, FlowEventsPage};
use ff_core::hint::{Hint, Hints};
use ff_core::lease::contracts::{Control, ControlArgs, check_wait};
use ff_core::signal::contracts::{DeliveriesArgs, DeliveriesPage};
use ff_core::stream::contracts::{ReadStreamArgs, StreamPage};
use ff_core::types::{ExecutionId, FlowId, WorkerInstanceId};
use futures_util::StreamExt;
use lost::LostLeases;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use wait_set::WaitSet;

/// How many read the feed of events at once.
const READERS: usize = 2;

/// Tells workers which leases they lost, and callers how an execution or a flow ended, what was delivered, or what happened,
/// anywhere or in a flow. A hint wakes only those it is for.
pub struct Notifier {
    store: Arc<dyn EngineStore>,
    notices: Arc<Notices>,
    /// Who may read the feed of events now.
    turns: Arc<Semaphore>,
    stopped: CancellationToken,
    _listening: DropGuard,
}

impl Notifier {
    /// Starts a board on the current runtime. It listens until it is stopped or dropped.
    pub fn start(store: Arc<dyn EngineStore>) -> Arc<Self> {
        let notices = Arc::new(Notices::default());
        let stopped = CancellationToken::new();
        // Listens from here on, so that no hint given after this call is missed.
        tokio::spawn(listen(store.hints(), notices.clone(), stopped.clone()));
        let listening = stopped.clone().drop_guard();
        let turns = Arc::new(Semaphore::new(READERS));
        Arc::new(Self { store, notices, turns, stopped, _listening: listening })
    }

    /// Answers everybody who waits, at once, and nobody has to wait from now on.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Tells a worker instance which of its leases it lost since its cursor, waiting for news up to `wait_ms`.
    ///
    /// A cursor of another process, or one so old that the news since are no longer known, is answered at once with
    /// `missed`: the worker renews what it holds to find out.
    pub async fn control(&self, args: ControlArgs) -> Answer<Control> {
        check_wait(args.wait_ms)?;
        let deadline = after(args.wait_ms);
        let mut since = args.after;
        let bell = self.notices.workers.join(&args.worker_instance_id);
        loop {
            let rung = bell.rung();
            let control = self.notices.lost().since(since.as_deref(), &args.worker_instance_id)?;
            if control.missed || !control.lost.is_empty() || !self.wait(rung, deadline).await {
                return Ok(control);
            }
            since = Some(control.next);
        }
    }

    /// How an execution ended, waiting for its end up to `wait_ms`; `None` when it has not ended in time.
    pub async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.ends.join(id);
        loop {
            let rung = bell.rung();
            if let Some(ended) = self.store.end_of(id).await? {
                return Ok(Some(ended));
            }
            if !self.wait(rung, deadline).await {
                return Ok(None);
            }
        }
    }

    /// The output of an execution from a cursor on, waiting for more up to `wait_ms`; at once when there is nothing more to come.
    pub async fn next_frames(&self, mut args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.streams.join(&args.execution_id);
        loop {
            let rung = bell.rung();
            if args.start().seq == 0 && wait_ms > 0 {
                // An execution without output moves no stream. A store that tells only of ends that callers wait for learns
                // by this question that one does.
                self.store.end_of(&args.execution_id).await?;
            }
            let page = self.store.read_stream(args.clone()).await?;
            if page.ended || !page.items.is_empty() || !self.wait(rung, deadline).await {
                return Ok(page);
            }
            args.from = Some(page.next);
        }
    }

    /// What was delivered on any partition since a cursor, waiting for something up to `wait_ms`.
    pub async fn next_deliveries(&self, mut args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.deliveries.join(&());
        loop {
            let rung = bell.rung();
            let page = self.store.deliveries(args.clone()).await?;
            if page.missed || !page.deliveries.is_empty() || !self.wait(rung, deadline).await {
                return Ok(page);
            }
            args.after = Some(page.next);
        }
    }

    /// What happened on any partition since a cursor, waiting for something up to `wait_ms`.
    pub async fn next_events(&self, mut args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.events.join(&());
        loop {
            let rung = bell.rung();
            let page = self.events(args.clone()).await?;
            let moved = args.after.as_ref().is_some_and(|after| *after != page.next);
            if page.missed || !page.events.is_empty() {
                return Ok(page);
            }
            args.after = Some(page.next.clone());
            // What was passed over is another tenant's, and there may be more behind it.
            if !moved && !self.wait(rung, deadline).await {
                return Ok(page);
            }
        }
    }

    /// Reads the feed when it is this reader's turn. Whatever happens wakes all readers, so without turns one tenant with many of
    /// them would keep the store busy with what another tenant does; while a reader waits for its turn more comes to be read at
    /// once. A task of its own, so that a caller that stops asking in the middle holds up nobody.
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        let (store, turns) = (self.store.clone(), self.turns.clone());
        let reading = tokio::spawn(async move {
            // Never closed, so a turn always comes.
            let _turn = turns.acquire().await;
            store.events(args).await
        });
        reading.await.unwrap_or_else(|error| Err(EngineError::Unavailable(format!("reading events ended: {error}"))))
    }

    /// How a flow ended, waiting for its end up to `wait_ms`; `None` when it has not ended in time.
    pub async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.flow_ends.join(id);
        loop {
            let rung = bell.rung();
            if let Some(end) = self.store.end_of_flow(id).await? {
                return Ok(Some(end));
            }
            if !self.wait(rung, deadline).await {
                return Ok(None);
            }
        }
    }

    /// What happened in a flow since, waiting for something up to `wait_ms`; at once when the flow has ended.
    pub async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        check_wait(wait_ms)?;
        let deadline = after(wait_ms);
        let bell = self.notices.flow_events.join(&args.flow_id);
        loop {
            let rung = bell.rung();
            // A store that tells only of what somebody follows learns by this question who does.
            self.store.end_of_flow(&args.flow_id).await?;
            let page = self.store.flow_events(args).await?;
            if page.missed || page.ended || !page.events.is_empty() || !self.wait(rung, deadline).await {
                return Ok(page);
            }
        }
    }

    /// Whether the bell rang before the wait was over.
    async fn wait(&self, rung: impl Future<Output = ()>, deadline: Instant) -> bool {
        if Instant::now() >= deadline {
            return false;
        }
        tokio::select! {
            biased;
            () = self.stopped.cancelled() => false,
            () = rung => true,
            () = sleep_until(deadline) => false,
        }
    }
}

fn after(wait_ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(wait_ms)
}

/// What has happened, and who waits for it.
#[derive(Default)]
struct Notices {
    lost: Mutex<LostLeases>,
    workers: WaitSet<WorkerInstanceId>,
    ends: WaitSet<ExecutionId>,
    streams: WaitSet<ExecutionId>,
    /// One bell for all partitions: who reads the feeds reads all of them.
    deliveries: WaitSet<()>,
    /// The same of what happens.
    events: WaitSet<()>,
    flow_ends: WaitSet<FlowId>,
    flow_events: WaitSet<FlowId>,
}

impl Notices {
    fn lost(&self) -> MutexGuard<'_, LostLeases> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heed(&self, hint: Hint) {
        match hint {
            Hint::LeaseLost { worker_instance_id, lost } => {
                self.lost().add(worker_instance_id.clone(), lost);
                self.workers.ring(&worker_instance_id);
            }
            Hint::StreamMoved { execution_id } => self.streams.ring(&execution_id),
            Hint::Ended { execution_id } => {
                self.ends.ring(&execution_id);
                self.streams.ring(&execution_id);
            }
            Hint::SignalDelivered { .. } => self.deliveries.ring_all(),
            Hint::EventTold { .. } => self.events.ring_all(),
            Hint::FlowMoved { flow_id } => self.flow_events.ring(&flow_id),
            Hint::FlowEnded { flow_id } => self.flow_ends.ring(&flow_id),
            Hint::Missed => {
                self.lost().missed();
                self.workers.ring_all();
                self.ends.ring_all();
                self.streams.ring_all();
                self.deliveries.ring_all();
                self.events.ring_all();
                self.flow_ends.ring_all();
                self.flow_events.ring_all();
            }
            Hint::Ready { .. } | Hint::Due { .. } | Hint::LaneFreed { .. } => {}
        }
    }
}

async fn listen(mut hints: Hints, notices: Arc<Notices>, stopped: CancellationToken) {
    while let Some(Some(hint)) = stopped.run_until_cancelled(hints.next()).await {
        notices.heed(hint);
    }
    // A store that has closed has no more news, so nobody need wait for any.
    stopped.cancel();
}
