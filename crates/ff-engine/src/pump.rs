//! The pump: sleeps until something is due by the store's clock, and has the store fire it.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore};
use ff_core::due::Pumped;
use ff_core::hint::Hint;
use ff_core::types::TimestampMs;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::agenda::Agenda;
use crate::pump_lag::PumpLag;
use crate::sweep::alarm;
use crate::{Backoff, HintStream, Sweeper};

/// Partitions pumped together.
const AT_ONCE: usize = 8;

/// The longest sleep towards a known moment. The store's clock may be set, and a machine may be suspended; due work is
/// late by this much then, not by whatever was left to sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// The shortest sleep towards a known moment, and how far it grows while the store's clock stands still: such a clock must
/// not be asked all the time.
const PATIENCE: Duration = Duration::from_millis(1);
const PATIENCE_MAX: Duration = Duration::from_secs(1);

/// Doublings of the wait before a partition is pumped again that was due and fired nothing: from 1 ms to 2 s.
const FRUITLESS_MAX: u32 = 11;

pub(crate) struct Pump {
    store: Arc<dyn EngineStore>,
    hint_stream: HintStream,
    sweeper: Sweeper,
    agenda: Agenda,
    /// Tasks of their own: a call may hold a lock or a connection of the store, and must go on while the pump waits for
    /// the store's clock.
    pumping: JoinSet<(u16, Answer<Pumped>)>,
    /// The store's time when it was last asked. It may be long ago, but what was due then still is.
    now: TimestampMs,
    sleep: Option<Sleep>,
    patience: Duration,
    fruitless: HashMap<u16, IdlePump>,
    /// How many pumps failed since one did not. A part of a store may be away while the rest answers.
    failures: usize,
    pump_lag: PumpLag,
    backoff: Backoff,
}

/// A sleep towards a moment of the store.
struct Sleep {
    towards: TimestampMs,
    until: Instant,
}

/// A partition that was due and of which nothing came.
struct IdlePump {
    since: TimestampMs,
    times: u32,
}

impl Pump {
    pub(crate) fn new(store: Arc<dyn EngineStore>, pump_lag: PumpLag) -> Self {
        Self {
            hint_stream: HintStream::of(&*store),
            sweeper: Sweeper::new(store.clone()),
            store,
            agenda: Agenda::default(),
            pumping: JoinSet::new(),
            now: TimestampMs(i64::MIN),
            sleep: None,
            patience: PATIENCE,
            fruitless: HashMap::new(),
            failures: 0,
            pump_lag,
            backoff: Backoff::default(),
        }
    }

    pub(crate) async fn run(mut self) {
        loop {
            let wake = self.fire().await;
            self.pump_lag.since(self.owed_since());
            tokio::select! {
                hint = self.hint_stream.next() => self.heed(hint),
                looked = self.sweeper.next() => {
                    if let Some((partition, swept)) = looked && let Some(at) = swept.next_due {
                        self.agenda.note(partition, at);
                    }
                }
                Some(pumped) = self.pumping.join_next() => match pumped {
                    Ok((partition, answer)) => self.pumped(partition, answer),
                    Err(panicked) => resume_unwind(panicked.into_panic()),
                },
                () = alarm(wake) => {}
            }
        }
    }

    /// Begins to pump what is due, and says when to look again if nothing happens before.
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
            if self.pumping.len() == AT_ONCE {
                return None;
            }
            let towards = self.agenda.earliest()?;
            if let Some(sleep) = self.sleep.as_ref().filter(|sleep| sleep.towards == towards)
                && Instant::now() < sleep.until
            {
                return Some(sleep.until);
            }
            match self.store.now().await {
                Ok(now) => self.read_clock(now, towards),
                Err(error) => {
                    self.store.outages().noted("clock", &error);
                    self.backoff.failed();
                }
            }
        }
    }

    /// Learns what time it is, and how long to sleep towards a moment that has not come.
    fn read_clock(&mut self, now: TimestampMs, towards: TimestampMs) {
        self.backoff.succeeded();
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

    fn pumped(&mut self, partition: u16, answer: Answer<Pumped>) {
        self.agenda.give_back(partition);
        match answer {
            Ok(Pumped { fired, next_due, .. }) => {
                self.failures = 0;
                self.store.outages().answered(partition);
                self.backoff.succeeded();
                match next_due {
                    // The partition's clock is behind the one that was read.
                    Some(at) if fired == 0 && at <= self.now => self.retry_later(partition),
                    _ => {
                        self.fruitless.remove(&partition);
                        if let Some(at) = next_due {
                            self.agenda.note(partition, at);
                        }
                    }
                }
            }
            Err(error) => {
                self.store.outages().failed("pump", partition, &error);
                self.failures = self.failures.saturating_add(1);
                // Each partition is left alone for itself; all of them only when none answers.
                if self.failures >= AT_ONCE {
                    self.backoff.failed();
                }
                self.retry_later(partition);
            }
        }
    }

    /// Pumps a partition again, later each time it comes to nothing.
    fn retry_later(&mut self, partition: u16) {
        let known = self.fruitless.entry(partition).or_insert(IdlePump { since: self.now, times: 0 });
        self.agenda.note(partition, self.now + (1 << known.times));
        known.times = (known.times + 1).min(FRUITLESS_MAX);
    }

    /// The earliest moment that has not been seen to: what is tried again has been due all the while.
    fn owed_since(&self) -> Option<TimestampMs> {
        let fruitless = self.fruitless.values().map(|fruitless| fruitless.since);
        self.agenda.owed_since().into_iter().chain(fruitless).min()
    }

    fn heed(&mut self, hint: Hint) {
        match hint {
            Hint::Due { partition, at } => self.agenda.note(partition, at),
            Hint::Missed => self.sweeper.everything(),
            Hint::Ready { .. }
            | Hint::LaneFreed { .. }
            | Hint::LeaseLost { .. }
            | Hint::SignalDelivered { .. }
            | Hint::EventTold { .. }
            | Hint::StreamMoved { .. }
            | Hint::Ended { .. }
            | Hint::FlowMoved { .. }
            | Hint::FlowEnded { .. } => {}
        }
    }
}
