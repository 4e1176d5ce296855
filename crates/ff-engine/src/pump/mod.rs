//! The pump: sleeps until work is due by the store's clock, then makes the store fire it. It acts for the partitions it owns among
//! the engines of the store.

mod agenda;
mod lag;
mod membership;
mod peers;
mod ticker;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::hint::Hint;
use ff_core::backend::{Answer, EngineStore, PartitionStatus};
use ff_core::contracts::WorkQueue;
use ff_core::rule::due::PumpedPartition;
use ff_core::types::{EngineId, TimestampMs};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::agenda::Agenda;
use self::membership::Membership;
use self::ticker::{Look, Ticker};
use crate::quota_keeper::{OwnedPartitions, QuotaNews};
use crate::routing::RoutingNews;
use crate::sweep::{alarm, finished};
use crate::{Backoff, HintStream, Sweeper};

pub(crate) use lag::PumpLag;

/// Maximum number of partitions pumped at the same time.
const AT_ONCE: usize = 8;

/// Maximum sleep until a known due time. The store's clock may be set, or the machine suspended; then due work is late by at most
/// this long.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// Minimum sleep until a known due time, and its limit while the store's clock stands still. Prevents a busy loop that reads the
/// clock.
const PATIENCE: Duration = Duration::from_millis(1);
const PATIENCE_MAX: Duration = Duration::from_secs(1);

/// Time for which a reading of the store's clock is trusted. Until then the local clock advances it.
const CLOCK_FRESH: Duration = Duration::from_secs(1);

/// Delay after something fired on a partition before its next due time fires. Due times close together are fired in one call,
/// regardless of the number of engines.
const SPACING_MS: u64 = 50;

/// Lag from which a pump does not keep up, and other engines act in its place.
const BEHIND: Duration = Duration::from_secs(2);

/// Maximum number of doublings of the delay before a partition that was due and fired nothing is pumped again: 1 ms to 2 s.
const FRUITLESS_MAX: u32 = 11;

pub(crate) struct Pump {
    store: Arc<dyn EngineStore>,
    hint_stream: HintStream,
    sweeper: Sweeper,
    /// Present where engines in other processes may share the store.
    membership: Option<Membership>,
    /// Whether every partition has been swept since the start.
    is_informed: bool,
    agenda: Agenda,
    /// Separate tasks: a call may hold a lock or a connection of the store, and must make progress while the pump waits for the
    /// store's clock.
    pumping: JoinSet<(u16, Answer<PumpedPartition>)>,
    /// The store's time at the last reading or estimate. It may be long ago, but work that was due then is still due.
    now: TimestampMs,
    /// The last reading of the store's clock and its local time; `None` while it cannot be relied on.
    clock: Option<(TimestampMs, Instant)>,
    sleep: Option<Sleep>,
    patience: Duration,
    fruitless: HashMap<u16, IdlePump>,
    /// Consecutive failed pumps. A part of a store may be away while the rest answers.
    failures: usize,
    pump_lag: PumpLag,
    routing_news: RoutingNews,
    backoff: Backoff,
    /// Channels to the task that gives back slots of quotas.
    quotas: QuotaChannels,
    ticker: Ticker,
}

/// Channels to the quota keeper: free slots, and the partitions the pump acts for.
pub(crate) struct QuotaChannels {
    pub(crate) news: mpsc::UnboundedSender<QuotaNews>,
    pub(crate) owned: watch::Sender<OwnedPartitions>,
}

/// A sleep until a time of the store's clock.
struct Sleep {
    towards: TimestampMs,
    until: Instant,
}

/// A partition that was due and fired nothing.
struct IdlePump {
    since: TimestampMs,
    times: u32,
}

impl Pump {
    pub(crate) fn new(
        store: Arc<dyn EngineStore>,
        engine_id: EngineId,
        pump_lag: PumpLag,
        routing_news: RoutingNews,
        quotas: QuotaChannels,
    ) -> Self {
        Self {
            hint_stream: HintStream::of(&*store),
            sweeper: Sweeper::periodic(store.clone()),
            ticker: Ticker::new(store.clone()),
            membership: store.sweep_every().map(|_| Membership::new(store.clone(), engine_id)),
            is_informed: false,
            store,
            agenda: Agenda::default(),
            pumping: JoinSet::new(),
            now: TimestampMs(i64::MIN),
            clock: None,
            sleep: None,
            patience: PATIENCE,
            fruitless: HashMap::new(),
            failures: 0,
            pump_lag,
            routing_news,
            backoff: Backoff::default(),
            quotas,
        }
    }

    pub(crate) async fn run(mut self) {
        loop {
            let wake = self.fire().await;
            self.pump_lag.since(self.pending_since());
            let question = self.ticker.next_question();
            tokio::select! {
                hint = self.hint_stream.next() => self.handle(hint),
                looked = self.sweeper.next() => {
                    if let Some((partition, swept)) = looked {
                        self.swept(partition, swept);
                    }
                }
                Some((partition, answer)) = finished(&mut self.pumping) => self.pumped(partition, answer),
                Some(look) = self.ticker.next() => self.looked(look),
                () = alarm(question) => self.ticker.ask(),
                () = alarm(wake) => {}
                () = alarm(self.membership.as_ref().map(Membership::next_turn)) => self.take_turn(),
            }
        }
    }

    /// Starts to pump due partitions. Returns the time of the next check.
    async fn fire(&mut self) -> Option<Instant> {
        loop {
            if let Some(until) = self.backoff.until() {
                return Some(until);
            }
            while self.pumping.len() < AT_ONCE
                && let Some(partition) = self.agenda.take_due(self.now)
            {
                let store = self.store.clone();
                self.pumping.spawn(async move { (partition, store.pump(partition).await) });
            }
            let due = (self.pumping.len() < AT_ONCE).then(|| self.agenda.earliest()).flatten();
            let tick = self.ticker.fire(self.now);
            let towards = due.into_iter().chain(tick).min()?;
            if let Some(sleep) = self.sleep.as_ref().filter(|sleep| sleep.towards == towards)
                && Instant::now() < sleep.until
            {
                return Some(sleep.until);
            }
            if let Some((now, true)) = self.estimate() {
                self.sleep_towards(now, towards);
                continue;
            }
            match self.store.now().await {
                Ok(now) => {
                    // A reading not past the last one or the estimate means that the clock stands still, or is slower than the
                    // local one.
                    self.clock = (now > self.now).then(|| (now, Instant::now()));
                    self.backoff.succeeded();
                    self.sleep_towards(now, towards);
                }
                Err(error) => {
                    self.store.outages().log_failure("clock", &error);
                    self.backoff.failed();
                }
            }
        }
    }

    /// Returns the store's time, estimated from its last reading, and whether that reading is fresh.
    fn estimate(&self) -> Option<(TimestampMs, bool)> {
        let (read, at) = self.clock?;
        let since = at.elapsed();
        Some((read + u64::try_from(since.as_millis()).unwrap_or(u64::MAX), since < CLOCK_FRESH))
    }

    /// Notes the store's time, and plans the sleep until a time that has not come yet.
    fn sleep_towards(&mut self, now: TimestampMs, towards: TimestampMs) {
        let slept = self.sleep.take().is_some_and(|sleep| sleep.towards == towards);
        let stands_still = slept && now <= self.now;
        self.now = now;
        if towards <= now {
            return;
        }
        self.patience = if stands_still { (self.patience * 2).min(PATIENCE_MAX) } else { PATIENCE };
        let left = Duration::from_millis(towards.since(now));
        let until = Instant::now() + left.max(self.patience).min(LONGEST_SLEEP);
        self.sleep = Some(Sleep { towards, until });
    }

    fn pumped(&mut self, partition: u16, answer: Answer<PumpedPartition>) {
        self.agenda.give_back(partition);
        match answer {
            Ok(PumpedPartition { fired, next_due, .. }) => {
                self.failures = 0;
                self.store.outages().answered(partition);
                self.backoff.succeeded();
                match next_due {
                    // The partition's clock is behind the reading.
                    Some(at) if fired == 0 && at <= self.now => {
                        self.clock = None;
                        self.retry_later(partition);
                    }
                    _ => {
                        self.fruitless.remove(&partition);
                        if let Some(at) = next_due {
                            self.note(
                                partition,
                                if fired > 0 && at > self.now { at.max(self.now + SPACING_MS) } else { at },
                            );
                        }
                    }
                }
            }
            Err(error) => {
                // The next reading of the clock shows whether the store answers at all.
                self.clock = None;
                self.store.outages().failed("pump", partition, &error);
                self.failures = self.failures.saturating_add(1);
                // Each partition has its own backoff. The pump backs off as a whole only when no partition answers.
                if self.failures >= AT_ONCE {
                    self.backoff.failed();
                }
                self.retry_later(partition);
            }
        }
    }

    /// Notes when schedules are due.
    fn looked(&mut self, look: Look) {
        for tick in self.ticker.looked(look, self.now) {
            self.note_tick(tick.partition, tick.look_at);
        }
    }

    /// Notes that a schedule on a partition is due, if this engine owns the partition.
    fn note_tick(&mut self, partition: u16, at: TimestampMs) {
        if self.sweeper.is_responsible_for(partition) {
            self.ticker.note(partition, at);
        }
    }

    /// Notes the status of a partition. Announces ready work, because a scheduler may have lost the hint.
    fn swept(&mut self, partition: u16, swept: PartitionStatus) {
        self.is_informed |= self.sweeper.is_through();
        if let Some(at) = swept.next_due {
            self.note(partition, at);
        }
        for ready in swept.ready.iter().filter(|ready| ready.class.has_requirements()) {
            self.routing_news.ready(partition, ready.queue());
        }
        for queue in swept.unroutable {
            self.routing_news.unroutable(partition, queue);
        }
        if let Some(membership) = &mut self.membership {
            let ready = swept.ready.into_iter();
            membership.announce(ready.map(|ready| ready.hint(partition)).collect());
        }
    }

    /// Notes that work on a partition is due, if this engine owns the partition.
    fn note(&mut self, partition: u16, at: TimestampMs) {
        if self.sweeper.is_responsible_for(partition) {
            self.agenda.note(partition, at);
        }
    }

    fn take_turn(&mut self) {
        let now = self.estimate().map_or(self.now, |(now, _)| now);
        let keeps_up = self.is_informed.then(|| self.pump_lag.behind(now) < BEHIND);
        if self.membership.as_mut().is_some_and(|membership| membership.take_turn(keeps_up)) {
            self.share();
        }
    }

    /// Acts for the partitions this engine owns from now on. Keeps what it knows of those it owned before, and sweeps the new ones.
    fn share(&mut self) {
        let Some(owned) = self.membership.as_ref().map(Membership::owned) else { return };
        self.agenda.retain(&owned);
        self.ticker.retain(&owned);
        self.ticker.ask_again();
        self.fruitless.retain(|partition, _| owned.contains(partition));
        self.routing_news.owned(owned.clone());
        self.quotas.owned.send_replace(Some(owned.clone()));
        self.sweeper.take_over(owned);
    }

    /// Plans another pump of a partition, later each time nothing is fired.
    fn retry_later(&mut self, partition: u16) {
        let known = self.fruitless.entry(partition).or_insert(IdlePump { since: self.now, times: 0 });
        let at = self.now + (1 << known.times);
        known.times = (known.times + 1).min(FRUITLESS_MAX);
        self.note(partition, at);
    }

    /// Returns the earliest due time that is not handled yet. A partition to be pumped again has been due since its first pump.
    fn pending_since(&self) -> Option<TimestampMs> {
        let fruitless = self.fruitless.values().map(|fruitless| fruitless.since);
        let due = self.agenda.pending_since().into_iter().chain(self.ticker.pending_since());
        due.chain(fruitless).min()
    }

    fn handle(&mut self, hint: Hint) {
        match hint {
            Hint::Due { partition, at } => self.note(partition, at),
            Hint::EngineSeen { engine_id, keeps_up } => {
                if self.membership.as_mut().is_some_and(|membership| membership.note_engine(engine_id, keeps_up)) {
                    self.share();
                }
            }
            Hint::TickDue { partition, at } => self.note_tick(partition, at),
            Hint::Missed => {
                self.sweeper.everything();
                self.ticker.ask_again();
            }
            Hint::Ended { .. } | Hint::FlowEnded { .. } => self.ticker.note_end(&hint),
            Hint::Ready { partition, lane, kind, class, .. } => {
                if class.has_requirements() && self.sweeper.is_responsible_for(partition) {
                    self.routing_news.ready(partition, WorkQueue { lane, kind, class });
                }
            }
            Hint::WorkersChanged => self.routing_news.workers_changed(),
            Hint::SlotsFreed { execution_id, epoch, slots, shared } => {
                if !shared || self.sweeper.is_responsible_for(execution_id.partition()) {
                    self.tell_quotas(QuotaNews::Freed { execution_id, epoch, slots });
                }
            }
            Hint::QuotaDefined { .. } => self.tell_quotas(QuotaNews::Defined),
            Hint::LaneFreed { .. }
            | Hint::LeaseLost { .. }
            | Hint::SignalDelivered { .. }
            | Hint::EventRecorded { .. }
            | Hint::StreamMoved { .. }
            | Hint::FlushMarker { .. }
            | Hint::FlowMoved { .. } => {}
        }
    }

    fn tell_quotas(&self, news: QuotaNews) {
        // The keeper runs as long as the pump. When both stop, the next engine finds the slots.
        self.quotas.news.send(news).ok();
    }
}
