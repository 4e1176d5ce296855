//! A wrapper around a store or server that records the duration of every operation.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{BoxedAnswer, EngineStore, Perform};
use ff_core::operation::query::{Query, QueryReply};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::types::ExecutionId;
use ff_sdk::Waitpoint;
use futures_util::future::BoxFuture;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::latency::Latencies;

/// Durations of operations, and the count of completed executions.
pub(super) struct Meter {
    pub(super) latencies: Latencies,
    completed: watch::Sender<u64>,
    /// The channel for the waitpoints of suspended executions, if a scenario requested it.
    suspended: OnceLock<mpsc::UnboundedSender<Waitpoint>>,
    /// One permit for each execution that may be submitted before another one is completed.
    room: Semaphore,
}

/// Maximum number of executions submitted and not completed. With an unbounded queue the figures would describe submitting alone,
/// then working alone; the measurement needs both at once.
const IN_FLIGHT_MAX: usize = 4_000;

impl Default for Meter {
    fn default() -> Self {
        let room = Semaphore::new(IN_FLIGHT_MAX);
        let completed = watch::Sender::new(0);
        Self { latencies: Latencies::default(), completed, suspended: OnceLock::new(), room }
    }
}

impl Meter {
    /// Returns the number of executions completed so far.
    pub(super) fn completed(&self) -> u64 {
        *self.completed.borrow()
    }

    /// Waits until `count` executions have been completed.
    pub(super) async fn until_completed(&self, count: u64) {
        // Never fails: `self` holds the sender.
        self.completed.subscribe().wait_for(|completed| *completed >= count).await.ok();
    }

    /// Returns the waitpoints of executions that suspend after this call. Scenarios call it once.
    pub(super) fn suspended(&self) -> mpsc::UnboundedReceiver<Waitpoint> {
        let (sender, waitpoints) = mpsc::unbounded_channel();
        // On a second call the new sender is dropped, so its receiver gets nothing.
        self.suspended.set(sender).ok();
        waitpoints
    }

    /// Waits until one more execution may be submitted.
    pub(super) async fn room(&self) {
        // Fails only when the semaphore is closed, which never happens.
        if let Ok(permit) = self.room.acquire().await {
            permit.forget();
        }
    }

    /// Counts a completion, or sends the waitpoints of a suspended execution.
    fn note(&self, reply: &Reply, suspending: Option<ExecutionId>) {
        match reply {
            Reply::Completed(_) => {
                self.completed.send_modify(|completed| *completed += 1);
                self.room.add_permits(1);
            }
            Reply::Suspended(suspended) => {
                if let (Some(execution_id), Some(sender)) = (suspending, self.suspended.get()) {
                    for granted in &suspended.waitpoints {
                        // Fails when the benchmark has dropped the receiver.
                        sender.send(Waitpoint::new(execution_id, granted.clone())).ok();
                    }
                }
            }
            _ => {}
        }
    }
}

/// A store or a server whose operations are metered.
pub(super) struct MeteredStore<S: ?Sized> {
    pub(super) inner: Arc<S>,
    pub(super) meter: Arc<Meter>,
}

impl<S: Perform + ?Sized> Perform for MeteredStore<S> {
    fn partitions(&self) -> PartitionConfig {
        self.inner.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move {
            let (name, suspending, began) = (operation.name(), suspending(&operation), Instant::now());
            let reply = self.inner.perform(operation).await?;
            self.meter.latencies.took(name, began.elapsed());
            self.meter.note(&reply, suspending);
            Ok(reply)
        })
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        self.inner.query(query)
    }
}

/// Returns the execution that an operation suspends.
fn suspending(operation: &Operation) -> Option<ExecutionId> {
    match operation {
        Operation::Suspend(args) => Some(args.execution_id),
        _ => None,
    }
}

impl EngineStore for MeteredStore<dyn EngineStore> {
    fn sweep_every(&self) -> Option<Duration> {
        self.inner.sweep_every()
    }

    fn claims_at_once(&self) -> usize {
        self.inner.claims_at_once()
    }

    fn hints(&self) -> Hints {
        self.inner.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.inner.announce(hints)
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        self.inner.flush_hints()
    }

    fn outages(&self) -> &OutageLog {
        self.inner.outages()
    }
}
