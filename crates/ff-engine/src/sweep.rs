//! Sweeping: reading the status of partitions without a hint, because hints report only changes and may be lost.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore, PartitionStatus};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::Backoff;

/// Maximum number of partitions swept at the same time.
const AT_ONCE: usize = 8;

/// Reads the status of its partitions once when it starts, and again on request. Where hints can be lost, a periodic sweeper also
/// reads one after the other for ever.
pub struct Sweeper {
    store: Arc<dyn EngineStore>,
    responsible_for: BTreeSet<u16>,
    waiting: BTreeSet<u16>,
    /// Partitions for which the store did not answer, in the order they failed. They are retried after a backoff, behind the other
    /// partitions.
    failed: VecDeque<u16>,
    /// Consecutive failed calls. A part of a store may be away while the rest answers.
    failures: usize,
    /// Separate tasks: a call may use one of the store's connections, and returns it even while the sweeper waits for another one.
    looking: JoinSet<(u16, Answer<PartitionStatus>)>,
    schedule: Option<SweepSchedule>,
    backoff: Backoff,
}

impl Sweeper {
    /// Creates a sweeper of every partition that also sweeps at intervals if hints can be lost.
    pub fn periodic(store: Arc<dyn EngineStore>) -> Self {
        let schedule =
            store.sweep_every().map(|every| SweepSchedule::new(every, store.partitions().num_flow_partitions));
        Self { schedule, ..Self::on_demand(store) }
    }

    /// Creates a sweeper of every partition that sweeps only when it starts and on request.
    pub fn on_demand(store: Arc<dyn EngineStore>) -> Self {
        let responsible_for: BTreeSet<_> = (0..store.partitions().num_flow_partitions).collect();
        Self {
            store,
            waiting: responsible_for.clone(),
            responsible_for,
            failed: VecDeque::new(),
            failures: 0,
            looking: JoinSet::new(),
            schedule: None,
            backoff: Backoff::default(),
        }
    }

    /// Becomes responsible for these partitions, and sweeps the new ones among them at once.
    pub fn take_over(&mut self, partitions: BTreeSet<u16>) {
        self.waiting.retain(|partition| partitions.contains(partition));
        self.failed.retain(|partition| partitions.contains(partition));
        self.waiting.extend(partitions.difference(&self.responsible_for));
        self.responsible_for = partitions;
    }

    pub(crate) fn is_responsible_for(&self, partition: u16) -> bool {
        self.responsible_for.contains(&partition)
    }

    /// Requests a sweep of every partition, because hints were lost.
    pub fn everything(&mut self) {
        self.failed.clear();
        self.waiting.extend(&self.responsible_for);
    }

    /// Returns whether every requested partition has been swept.
    pub fn is_through(&self) -> bool {
        self.waiting.is_empty() && self.failed.is_empty() && self.looking.is_empty()
    }

    /// Returns whether the last call to the store failed.
    pub fn is_failing(&self) -> bool {
        self.backoff.is_failing()
    }

    /// Returns the status of the next partition; `None` when the store did not answer. Waits while there is nothing to sweep, or
    /// during a backoff. Dropping the future loses nothing: the next call continues calls under way.
    pub async fn next(&mut self) -> Option<(u16, PartitionStatus)> {
        loop {
            let resume = self.look();
            tokio::select! {
                Some((partition, answer)) = finished(&mut self.looking) => {
                    self.failed.retain(|failed| *failed != partition);
                    match answer {
                        Ok(swept) => {
                            self.failures = 0;
                            self.store.outages().answered(partition);
                            self.backoff.succeeded();
                            return Some((partition, swept));
                        }
                        Err(error) => {
                            self.store.outages().failed("sweep", partition, &error);
                            self.failures = self.failures.saturating_add(1);
                            self.backoff.failed();
                            self.failed.push_back(partition);
                            return None;
                        }
                    }
                }
                () = alarm(resume) => {}
                () = alarm(self.schedule.as_ref().map(|schedule| schedule.at)) => {
                    let turn = self.schedule.as_mut().map(SweepSchedule::turn);
                    self.waiting.extend(turn.filter(|partition| self.responsible_for.contains(partition)));
                }
            }
        }
    }

    /// Starts calls up to the maximum. Returns the end of the backoff, if there is one.
    fn look(&mut self) -> Option<Instant> {
        let resume = self.backoff.until();
        while self.looking.len() < AT_ONCE {
            let Some(partition) = self.take(resume.is_some()) else { break };
            let store = self.store.clone();
            self.looking.spawn(async move { (partition, store.sweep(partition).await) });
        }
        resume
    }

    /// Takes the next partition to sweep. A backoff excludes partitions that failed, and after [`AT_ONCE`] failures in a row all
    /// partitions, because then the whole store does not answer.
    fn take(&mut self, rests: bool) -> Option<u16> {
        if rests && self.failures >= AT_ONCE {
            return None;
        }
        self.waiting.pop_first().or_else(|| if rests { None } else { self.failed.pop_front() })
    }
}

/// Completes at a time; never without one.
pub(crate) async fn alarm(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// Waits for the next task that ends; none without tasks. A panic of the task goes on here.
pub(crate) async fn finished<T: 'static>(tasks: &mut JoinSet<T>) -> Option<T> {
    match tasks.join_next().await? {
        Ok(answer) => Some(answer),
        Err(panicked) => resume_unwind(panicked.into_panic()),
    }
}

/// The next partition and its time, spaced so that sweeping all partitions takes the whole interval.
struct SweepSchedule {
    partitions: u16,
    next: u16,
    step: Duration,
    at: Instant,
}

impl SweepSchedule {
    fn new(every: Duration, partitions: u16) -> Self {
        let step = every / u32::from(partitions.max(1));
        Self { partitions, next: 0, step, at: Instant::now() + step }
    }

    fn turn(&mut self) -> u16 {
        let partition = self.next;
        self.next = (partition + 1) % self.partitions.max(1);
        self.at = (self.at + self.step).max(Instant::now());
        partition
    }
}
