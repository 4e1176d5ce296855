//! The ticks of schedules: the time at which each partition must be looked at, and the looks under way.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::hint::Hint;
use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{PartitionTick, ScheduleRef};
use ff_core::schedule::StartedWork;
use ff_core::types::TimestampMs;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::agenda::Agenda;
use crate::orchestration::{Orchestration, TickedPartition, TickedSchedule};
use crate::sweep::finished;

/// Maximum number of partitions looked at at the same time.
const AT_ONCE: usize = 8;

/// Maximum number of ends that ticks wait for. Beyond it, the next look at a schedule finds the end.
const AWAITED: usize = 10_000;

/// Delay in milliseconds before the store is asked again after a failure, and the maximum number of its doublings.
const RETRY_MS: u64 = 50;
const RETRY_MAX: u32 = 6;

/// Knows when schedules are due, and starts the looks. Asks the store about all partitions when it starts, when hints were lost or
/// the owned partitions change, and at intervals where hints can be lost.
pub(crate) struct Ticker {
    store: Arc<dyn EngineStore>,
    agenda: Agenda,
    looking: JoinSet<Look>,
    /// Time of the next question about all partitions; `None` while none is planned.
    ask_at: Option<Instant>,
    is_asking: bool,
    /// Work whose end a tick waits for.
    awaited: HashMap<StartedWork, ScheduleRef>,
    /// Consecutive failed looks, by partition.
    failures: HashMap<u16, u32>,
}

/// An answered call.
pub(crate) enum Look {
    Agenda(Answer<Vec<PartitionTick>>),
    Partition(u16, Answer<TickedPartition>),
    Schedule(ScheduleRef, Answer<TickedSchedule>),
}

impl Ticker {
    pub(crate) fn new(store: Arc<dyn EngineStore>) -> Self {
        Self {
            store,
            agenda: Agenda::default(),
            looking: JoinSet::new(),
            ask_at: Some(Instant::now()),
            is_asking: false,
            awaited: HashMap::new(),
            failures: HashMap::new(),
        }
    }

    /// Asks about all partitions soon: hints were lost, or this engine owns other partitions.
    pub(crate) fn ask_again(&mut self) {
        self.ask_at = Some(Instant::now());
    }

    /// Returns the time of the next question.
    pub(crate) fn next_question(&self) -> Option<Instant> {
        self.ask_at.filter(|_| !self.is_asking)
    }

    /// Asks when the first schedule of each partition is due.
    pub(crate) fn ask(&mut self) {
        (self.is_asking, self.ask_at) = (true, None);
        let store = self.store.clone();
        self.looking.spawn(async move { Look::Agenda(store.schedule_agenda().await) });
    }

    pub(crate) fn note(&mut self, partition: u16, at: TimestampMs) {
        self.agenda.note(partition, at);
    }

    pub(crate) fn retain(&mut self, partitions: &BTreeSet<u16>) {
        self.agenda.retain(partitions);
    }

    pub(crate) fn pending_since(&self) -> Option<TimestampMs> {
        self.agenda.pending_since()
    }

    /// Starts to look at due partitions. Returns the next due time, if more looks may start.
    pub(crate) fn fire(&mut self, now: TimestampMs) -> Option<TimestampMs> {
        while self.looking.len() < AT_ONCE {
            let Some(partition) = self.agenda.take_due(now) else { return self.agenda.earliest() };
            let store = self.store.clone();
            self.looking.spawn(async move { Look::Partition(partition, store.look_at_schedules(partition).await) });
        }
        None
    }

    /// Returns the next answered call; `None` while no call is under way.
    pub(crate) async fn next(&mut self) -> Option<Look> {
        finished(&mut self.looking).await
    }

    /// Takes an answer. Returns the due times that it made known.
    pub(crate) fn looked(&mut self, look: Look, now: TimestampMs) -> Vec<PartitionTick> {
        match look {
            Look::Agenda(Ok(ticks)) => {
                self.is_asking = false;
                let every = self.store.sweep_every().map(|every| Instant::now() + every);
                self.ask_at = self.ask_at.into_iter().chain(every).min();
                ticks
            }
            Look::Agenda(Err(error)) => {
                self.store.outages().log_failure("schedules", &error);
                (self.is_asking, self.ask_at) = (false, Some(Instant::now() + Duration::from_secs(1)));
                Vec::new()
            }
            Look::Partition(partition, answer) => {
                self.agenda.give_back(partition);
                let look_at = self.settle(partition, answer, now);
                look_at.map(|look_at| PartitionTick { partition, look_at }).into_iter().collect()
            }
            Look::Schedule(schedule, answer) => {
                match answer {
                    Ok(ticked) => self.await_ends([(ticked.awaits, schedule)]),
                    // The schedule comes due again by itself.
                    Err(error) => self.store.outages().log_failure("schedules", &error),
                }
                Vec::new()
            }
        }
    }

    fn settle(&mut self, partition: u16, answer: Answer<TickedPartition>, now: TimestampMs) -> Option<TimestampMs> {
        match answer {
            Ok(TickedPartition { looked, next, awaited, failure }) => {
                self.await_ends(awaited.into_iter().map(|(work, schedule)| (Some(work), schedule)));
                if let Some(error) = failure {
                    self.store.outages().failed("schedules", partition, &error);
                    return next.into_iter().chain([self.later(partition, now)]).min();
                }
                self.store.outages().answered(partition);
                if looked == 0 && next.is_some_and(|at| at <= now) {
                    // The store's clock is behind the reading.
                    return Some(self.later(partition, now));
                }
                self.failures.remove(&partition);
                next
            }
            Err(error) => {
                self.store.outages().failed("schedules", partition, &error);
                Some(self.later(partition, now))
            }
        }
    }

    fn later(&mut self, partition: u16, now: TimestampMs) -> TimestampMs {
        let failures = self.failures.entry(partition).or_insert(0);
        let at = now + (RETRY_MS << *failures);
        *failures = (*failures + 1).min(RETRY_MAX);
        at
    }

    fn await_ends(&mut self, awaited: impl IntoIterator<Item = (Option<StartedWork>, ScheduleRef)>) {
        for (work, schedule) in awaited {
            let Some(work) = work.filter(|_| self.awaited.len() < AWAITED) else { continue };
            if self.awaited.insert(work, schedule.clone()).is_none() {
                // The work may have ended between the look and this registration.
                self.look_at(schedule);
            }
        }
    }

    /// Notes an end. A tick that waited for it may start.
    pub(crate) fn note_end(&mut self, hint: &Hint) {
        let work = match hint {
            Hint::Ended { execution_id } => StartedWork::Execution(*execution_id),
            Hint::FlowEnded { flow_id } => StartedWork::Flow(*flow_id),
            _ => return,
        };
        if let Some(schedule) = self.awaited.remove(&work) {
            self.look_at(schedule);
        }
    }

    fn look_at(&mut self, schedule: ScheduleRef) {
        let store = self.store.clone();
        self.looking.spawn(async move {
            let answer = match store.now().await {
                Ok(now) => store.look_at_schedule(&schedule, now).await,
                Err(error) => Err(error),
            };
            Look::Schedule(schedule, answer)
        });
    }
}
