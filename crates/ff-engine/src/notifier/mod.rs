//! The notifier: answers long polls as soon as there is something to report.

mod event_tail;
mod lost;
mod shared_read;
mod wait_set;

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use event_tail::{EventTail, ReadSoFar, TailAnswer};
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::{Answer, EngineStore};
use ff_core::engine_error::Refusal;
use ff_core::event::contracts::{EventsArgs, EventsPage};
use ff_core::execution::contracts::ExecutionEnd;
use ff_core::flow::contracts::{FlowEnd, FlowEventsArgs, FlowEventsPage};
use ff_core::lease::contracts::{Control, ControlArgs, check_wait};
use ff_core::signal::contracts::{DeliveriesArgs, DeliveriesPage};
use ff_core::stream::contracts::{ReadStreamArgs, StreamPage};
use ff_core::types::{ExecutionId, FlowId, WorkerInstanceId};
use futures_util::StreamExt;
use lost::LostLeases;
use shared_read::SharedRead;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};
use wait_set::{WaitEntry, WaitSet};

/// Maximum number of concurrent reads of the feeds of events and deliveries.
const READERS: usize = 2;

/// Answers long polls: lost leases of a worker, the end of an execution or a flow, frames of a stream, deliveries, and events of
/// all partitions or of a flow. A hint wakes only the callers it concerns.
pub struct Notifier {
    store: Arc<dyn EngineStore>,
    notices: Arc<Notices>,
    /// Permits for reading the feeds of all partitions.
    turns: Arc<Semaphore>,
    /// Reads of streams, by their arguments and whether the callers wait.
    stream_reads: WaitSet<(ReadStreamArgs, bool), SharedRead<StreamPage>>,
    delivery_reads: WaitSet<DeliveriesArgs, SharedRead<DeliveriesPage>>,
    event_reads: WaitSet<EventsArgs, SharedRead<EventsPage>>,
    /// One for all readers that wait for events of any partition.
    event_tail: WaitSet<(), EventTail>,
    stopped: CancellationToken,
    _listening: DropGuard,
}

impl Notifier {
    /// Starts a notifier on the current runtime. It listens until it is stopped or dropped.
    pub fn start(store: Arc<dyn EngineStore>) -> Arc<Self> {
        let notices = Arc::new(Notices::default());
        let stopped = CancellationToken::new();
        // Subscribes here, so that no hint sent after this call is missed.
        tokio::spawn(listen(store.hints(), notices.clone(), stopped.clone()));
        let listening = stopped.clone().drop_guard();
        let turns = Arc::new(Semaphore::new(READERS));
        Arc::new(Self {
            store,
            notices,
            turns,
            stream_reads: WaitSet::default(),
            delivery_reads: WaitSet::default(),
            event_reads: WaitSet::default(),
            event_tail: WaitSet::default(),
            stopped,
            _listening: listening,
        })
    }

    /// Answers all long polls at once; later ones are answered without waiting.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Returns the leases a worker instance lost since its cursor; waits up to `wait_ms` for one.
    ///
    /// A cursor that is too old, or of another process, is answered at once with `missed`. The worker then renews its leases to
    /// find out.
    pub async fn control(&self, args: ControlArgs) -> Answer<Control> {
        let poll = self.poll(&self.notices.workers, &args.worker_instance_id, args.wait_ms)?;
        let mut since = args.after;
        loop {
            let changed = poll.entry.changed();
            let control = self.notices.lost().since(since.as_deref(), &args.worker_instance_id)?;
            if control.missed || !control.lost.is_empty() || !self.wait(changed, poll.deadline).await {
                return Ok(control);
            }
            since = Some(control.next);
        }
    }

    /// Returns how an execution ended; waits for its end up to `wait_ms`, then returns `None`.
    pub async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>> {
        self.until_some(&self.notices.ends, id, wait_ms, || self.store.end_of(id)).await
    }

    /// Returns the output of an execution from a cursor on. Waits up to `wait_ms` for more, unless the output has ended.
    pub async fn next_frames(&self, mut args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage> {
        let poll = self.poll(&self.notices.streams, &args.execution_id, wait_ms)?;
        loop {
            let changed = poll.entry.changed();
            let page = self.frames(&args, wait_ms > 0).await?;
            if page.ended || !page.items.is_empty() || !self.wait(changed, poll.deadline).await {
                return Ok(page);
            }
            args.from = Some(page.next);
        }
    }

    /// Reads a stream. A frame wakes all readers of the stream; readers at the same cursor share one read.
    async fn frames(&self, args: &ReadStreamArgs, is_waiting: bool) -> Answer<StreamPage> {
        let entry = self.stream_reads.join(&(args.clone(), is_waiting));
        let (store, args) = (self.store.clone(), args.clone());
        let read = async move {
            if args.start().seq == 0 && is_waiting {
                // An execution without output gets no stream hint. Some stores send an end hint only if a caller waits; this query
                // registers the caller.
                store.end_of(&args.execution_id).await?;
            }
            store.read_stream(args).await
        };
        entry.shared.read(read).await
    }

    /// Returns how a flow ended; waits for its end up to `wait_ms`, then returns `None`.
    pub async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>> {
        self.until_some(&self.notices.flow_ends, id, wait_ms, || self.store.end_of_flow(id)).await
    }

    /// Returns the deliveries on any partition since a cursor; waits up to `wait_ms` for one.
    pub async fn next_deliveries(&self, mut args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        let poll = self.poll(&self.notices.deliveries, &(), wait_ms)?;
        loop {
            let changed = poll.entry.changed();
            let read = |store: Arc<dyn EngineStore>, args| async move { store.deliveries(args).await };
            let page = self.read_feeds(&self.delivery_reads, args.clone(), read).await?;
            if page.missed || !page.deliveries.is_empty() || !self.wait(changed, poll.deadline).await {
                return Ok(page);
            }
            args.after = Some(page.next);
        }
    }

    /// Returns the events on any partition since a cursor; waits up to `wait_ms` for one.
    pub async fn next_events(&self, mut args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        args.check_for_store()?;
        if wait_ms > 0 && args.execution.is_none() {
            return self.next_events_together(args, wait_ms).await;
        }
        let partition = args.execution.map(|id| id.partition());
        let poll = self.poll(&self.notices.events, &partition, wait_ms)?;
        loop {
            let changed = poll.entry.changed();
            let page = self.events(args.clone()).await?;
            if page.missed || !page.events.is_empty() {
                return Ok(page);
            }
            let before = args.after.replace(page.next.clone());
            // A page with only events of others may be followed by more.
            if before.is_none_or(|before| before == page.next) && !self.wait(changed, poll.deadline).await {
                return Ok(page);
            }
        }
    }

    /// Waits for events of all partitions, which are read once for all callers. Until a caller has read everything, it reads from
    /// the store.
    async fn next_events_together(&self, mut args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        let poll = self.poll(&self.notices.events, &None, wait_ms)?;
        let tail = self.event_tail.join(&());
        let after = match args.after.take() {
            Some(after) => after,
            None => self.events(args.clone()).await?.next,
        };
        let mut so_far = ReadSoFar::until(after);
        loop {
            let changed = poll.entry.changed();
            match tail.shared.next(&args, &mut so_far, &self.store, &self.turns).await? {
                TailAnswer::Events(page) => return Ok(page),
                TailAnswer::Nothing => {}
                TailAnswer::Unknown => {
                    let Some(_turn) = tail.shared.wait_to_read(&so_far).await else { continue };
                    let after = so_far.cursor();
                    let page = self.events(EventsArgs { after: Some(after.clone()), ..args.clone() }).await?;
                    if page.missed || !page.events.is_empty() {
                        return Ok(page);
                    }
                    if page.next != after {
                        // A page with only events of others may be followed by more.
                        so_far = ReadSoFar::until(page.next);
                        continue;
                    }
                    so_far = tail.shared.join(after);
                }
            }
            if !self.wait(changed, poll.deadline).await {
                return Ok(EventsPage { events: Vec::new(), next: so_far.cursor(), missed: false });
            }
        }
    }

    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        let read = |store: Arc<dyn EngineStore>, args| async move { store.events(args).await };
        self.read_feeds(&self.event_reads, args, read).await
    }

    /// Reads the feeds of all partitions with a permit. Readers with the same arguments share one read. Without permits, readers of
    /// one tenant could overload the store with reads of another tenant's events. What arrives while a reader waits for a permit is
    /// read together.
    async fn read_feeds<A, T, R>(
        &self,
        reads: &WaitSet<A, SharedRead<T>>,
        args: A,
        read: impl FnOnce(Arc<dyn EngineStore>, A) -> R + Send + 'static,
    ) -> Answer<T>
    where
        A: Clone + Eq + Hash + Send + 'static,
        T: Clone + Send + Sync + 'static,
        R: Future<Output = Answer<T>> + Send,
    {
        let entry = reads.join(&args);
        let (store, turns) = (self.store.clone(), self.turns.clone());
        let read = async move {
            // The semaphore is never closed, so a permit always comes.
            let _turn = turns.acquire().await;
            read(store, args).await
        };
        entry.shared.read(read).await
    }

    /// Returns the events of a flow since a position. Waits up to `wait_ms` for one, unless the flow has ended.
    pub async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        let poll = self.poll(&self.notices.flow_events, &args.flow_id, wait_ms)?;
        loop {
            let changed = poll.entry.changed();
            // This query registers the caller with stores that send hints only for flows with readers.
            self.store.end_of_flow(&args.flow_id).await?;
            let page = self.store.flow_events(args).await?;
            if page.missed || page.ended || !page.events.is_empty() || !self.wait(changed, poll.deadline).await {
                return Ok(page);
            }
        }
    }

    /// Begins a long poll of up to `wait_ms` for changes of `key`.
    fn poll<'a, K: Clone + Eq + Hash>(
        &self,
        wait_set: &'a WaitSet<K>,
        key: &K,
        wait_ms: u64,
    ) -> Result<Poll<'a, K>, Refusal> {
        check_wait(wait_ms)?;
        Ok(Poll { deadline: Instant::now() + Duration::from_millis(wait_ms), entry: wait_set.join(key) })
    }

    /// Reads until there is a value or the time is over; reads again whenever `key` changes.
    async fn until_some<K: Clone + Eq + Hash, T, Read: Future<Output = Answer<Option<T>>>>(
        &self,
        wait_set: &WaitSet<K>,
        key: &K,
        wait_ms: u64,
        read: impl Fn() -> Read,
    ) -> Answer<Option<T>> {
        let poll = self.poll(wait_set, key, wait_ms)?;
        loop {
            let changed = poll.entry.changed();
            let found = read().await?;
            if found.is_some() || !self.wait(changed, poll.deadline).await {
                return Ok(found);
            }
        }
    }

    /// Waits for a change. Returns whether it came before the deadline and before the notifier stopped.
    async fn wait(&self, changed: impl Future<Output = ()>, deadline: Instant) -> bool {
        if Instant::now() >= deadline {
            return false;
        }
        tokio::select! {
            biased;
            () = self.stopped.cancelled() => false,
            () = changed => true,
            () = sleep_until(deadline) => false,
        }
    }
}

/// One long poll.
struct Poll<'a, K: Clone + Eq + Hash> {
    entry: WaitEntry<'a, K>,
    deadline: Instant,
}

/// The state shared by all long polls.
#[derive(Default)]
struct Notices {
    lost: Mutex<LostLeases>,
    workers: WaitSet<WorkerInstanceId>,
    ends: WaitSet<ExecutionId>,
    streams: WaitSet<ExecutionId>,
    /// One key for all partitions, because readers read the feeds of all of them.
    deliveries: WaitSet<()>,
    /// By the partition a caller reads; `None` for callers that read all of them.
    events: WaitSet<Option<u16>>,
    flow_ends: WaitSet<FlowId>,
    flow_events: WaitSet<FlowId>,
}

impl Notices {
    fn lost(&self) -> MutexGuard<'_, LostLeases> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, hint: Hint) {
        match hint {
            Hint::LeaseLost { worker_instance_id, lost } => {
                self.lost().add(worker_instance_id.clone(), lost);
                self.workers.wake(&worker_instance_id);
            }
            Hint::StreamMoved { execution_id } => self.streams.wake(&execution_id),
            Hint::Ended { execution_id } => {
                self.ends.wake(&execution_id);
                self.streams.wake(&execution_id);
            }
            Hint::SignalDelivered { .. } => self.deliveries.wake_all(),
            Hint::EventRecorded { partition } => {
                self.events.wake(&Some(partition));
                self.events.wake(&None);
            }
            Hint::FlowMoved { flow_id } => self.flow_events.wake(&flow_id),
            Hint::FlowEnded { flow_id } => self.flow_ends.wake(&flow_id),
            Hint::Missed => {
                self.lost().missed();
                self.workers.wake_all();
                self.ends.wake_all();
                self.streams.wake_all();
                self.deliveries.wake_all();
                self.events.wake_all();
                self.flow_ends.wake_all();
                self.flow_events.wake_all();
            }
            Hint::Ready { .. }
            | Hint::Due { .. }
            | Hint::LaneFreed { .. }
            | Hint::WorkersChanged
            | Hint::FlushMarker { .. }
            | Hint::SlotsFreed { .. }
            | Hint::QuotaDefined { .. }
            | Hint::TickDue { .. }
            | Hint::EngineSeen { .. } => {}
        }
    }
}

async fn listen(mut hints: Hints, notices: Arc<Notices>, stopped: CancellationToken) {
    while let Some(Some(hint)) = stopped.run_until_cancelled(hints.next()).await {
        notices.handle(hint);
    }
    // A closed store sends no more hints, so callers must not wait.
    stopped.cancel();
}
