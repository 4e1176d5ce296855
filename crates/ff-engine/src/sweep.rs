//! Sweeping: looking at partitions without being told, because hints say only what changed, and may be lost.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, EngineStore, PartitionStatus};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::Backoff;

/// Partitions looked at together.
const AT_ONCE: usize = 8;

/// Looks at the partitions it is responsible for once when it starts, again when told to, and, where the store's hints can be lost
/// and it is to make up for that, at one partition after the other for ever.
pub struct Sweeper {
    store: Arc<dyn EngineStore>,
    responsible_for: BTreeSet<u16>,
    waiting: BTreeSet<u16>,
    /// Those the store did not answer for, in the order they failed. The others come first, and these are left alone for a
    /// while.
    failed: VecDeque<u16>,
    /// How many looks failed since one did not. A part of a store may be away while the rest answers.
    failures: usize,
    /// Tasks of their own: a look may have one of the store's connections, and gives it back even while whoever sweeps waits
    /// for one.
    looking: JoinSet<(u16, Answer<PartitionStatus>)>,
    rota: Option<SweepSchedule>,
    backoff: Backoff,
}

impl Sweeper {
    /// A sweeper of every partition that goes on for as long as hints can be lost.
    pub fn periodic(store: Arc<dyn EngineStore>) -> Self {
        let rota = store.sweep_every().map(|every| SweepSchedule::new(every, store.partitions().num_flow_partitions));
        Self { rota, ..Self::on_demand(store) }
    }

    /// A sweeper of every partition that looks when it starts and when it is told to.
    pub fn on_demand(store: Arc<dyn EngineStore>) -> Self {
        let responsible_for: BTreeSet<_> = (0..store.partitions().num_flow_partitions).collect();
        Self {
            store,
            waiting: responsible_for.clone(),
            responsible_for,
            failed: VecDeque::new(),
            failures: 0,
            looking: JoinSet::new(),
            rota: None,
            backoff: Backoff::default(),
        }
    }

    /// Looks at these partitions from now on, and at those that are new among them at once.
    pub fn take_over(&mut self, partitions: BTreeSet<u16>) {
        self.waiting.retain(|partition| partitions.contains(partition));
        self.failed.retain(|partition| partitions.contains(partition));
        self.waiting.extend(partitions.difference(&self.responsible_for));
        self.responsible_for = partitions;
    }

    pub(crate) fn is_responsible_for(&self, partition: u16) -> bool {
        self.responsible_for.contains(&partition)
    }

    /// Everything must be looked at, however recently it was: hints were lost.
    pub fn everything(&mut self) {
        self.failed.clear();
        self.waiting.extend(&self.responsible_for);
    }

    /// Whether everything that was to be looked at has been.
    pub fn is_through(&self) -> bool {
        self.waiting.is_empty() && self.failed.is_empty() && self.looking.is_empty()
    }

    /// Whether the store did not answer when it was last asked.
    pub fn is_failing(&self) -> bool {
        self.backoff.is_failing()
    }

    /// How the next partition stands, or nothing when the store did not say. Waits while there is nothing to look at, or while
    /// the store is left alone. Dropping the future loses nothing: what is being looked at goes on with the next call.
    pub async fn next(&mut self) -> Option<(u16, PartitionStatus)> {
        loop {
            let resume = self.look();
            tokio::select! {
                Some(looked) = self.looking.join_next() => match looked {
                    Ok((partition, Ok(swept))) => {
                        self.failures = 0;
                        self.store.outages().answered(partition);
                        self.backoff.succeeded();
                        self.failed.retain(|failed| *failed != partition);
                        return Some((partition, swept));
                    }
                    Ok((partition, Err(error))) => {
                        self.store.outages().failed("sweep", partition, &error);
                        self.failures = self.failures.saturating_add(1);
                        self.backoff.failed();
                        self.failed.retain(|failed| *failed != partition);
                        self.failed.push_back(partition);
                        return None;
                    }
                    Err(panicked) => resume_unwind(panicked.into_panic()),
                },
                () = alarm(resume) => {}
                () = alarm(self.rota.as_ref().map(|rota| rota.at)) => {
                    let turn = self.rota.as_mut().map(SweepSchedule::turn);
                    self.waiting.extend(turn.filter(|partition| self.responsible_for.contains(partition)));
                }
            }
        }
    }

    /// Begins to look at as many as may be looked at together. While the store is left alone, says until when.
    fn look(&mut self) -> Option<Instant> {
        let resume = self.backoff.until();
        while self.looking.len() < AT_ONCE {
            let Some(partition) = self.take(resume.is_some()) else { break };
            let store = self.store.clone();
            self.looking.spawn(async move { (partition, store.sweep(partition).await) });
        }
        resume
    }

    /// The next to look at. While the store rests, none of those that failed, and none at all when as many failed in a row as
    /// are looked at together: then it is the whole store that does not answer.
    fn take(&mut self, rests: bool) -> Option<u16> {
        if rests && self.failures >= AT_ONCE {
            return None;
        }
        self.waiting.pop_first().or_else(|| if rests { None } else { self.failed.pop_front() })
    }
}

/// Comes at a moment; never, when there is none.
pub(crate) async fn alarm(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// Whose turn it is, so that all partitions together take the whole interval.
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
