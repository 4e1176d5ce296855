//! A stopwatch between the SDK and a store or server: calls take as long as before, and are known afterwards.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ff_core::backend::{BoxedAnswer, EngineStore, Perform};
use ff_core::hint::{Hint, Hints};
use ff_core::operation::{Operation, Reply};
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::query::{Query, QueryReply};
use ff_core::types::ExecutionId;
use ff_sdk::Waitpoint;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::latency::Latencies;

/// What was called, and how long it took.
pub(super) struct Meter {
    pub(super) latencies: Latencies,
    completed: watch::Sender<u64>,
    /// Where suspensions are told of, if a scenario asked for them.
    suspended: OnceLock<mpsc::UnboundedSender<Waitpoint>>,
    /// One permit for each execution that may be submitted before another is completed.
    room: Semaphore,
}

/// How many executions may be on their way. A line that grows for as long as it is measured would tell how fast one can
/// submit, and after that how fast one can work; what is wanted is both at once.
const ON_THEIR_WAY: usize = 4_000;

impl Default for Meter {
    fn default() -> Self {
        let room = Semaphore::new(ON_THEIR_WAY);
        let completed = watch::Sender::new(0);
        Self { latencies: Latencies::default(), completed, suspended: OnceLock::new(), room }
    }
}

impl Meter {
    /// How many executions were completed so far.
    pub(super) fn completed(&self) -> u64 {
        *self.completed.borrow()
    }

    /// Returns when so many executions have been completed.
    pub(super) async fn until_completed(&self, count: u64) {
        // Fails when the sender is gone, which is here.
        self.completed.subscribe().wait_for(|completed| *completed >= count).await.ok();
    }

    /// The waitpoints of executions that suspend from here on. A scenario asks once.
    pub(super) fn suspended(&self) -> mpsc::UnboundedReceiver<Waitpoint> {
        let (tell, waitpoints) = mpsc::unbounded_channel();
        // A second receiver would hear nothing, for its sender goes.
        self.suspended.set(tell).ok();
        waitpoints
    }

    /// Returns when there is room for one more execution on its way.
    pub(super) async fn room(&self) {
        // Fails when it is closed, which it never is.
        if let Ok(permit) = self.room.acquire().await {
            permit.forget();
        }
    }

    /// Notes a reply, and the execution that was to be suspended, if one was.
    fn note(&self, reply: &Reply, suspending: Option<ExecutionId>) {
        match reply {
            Reply::Completed(_) => {
                self.completed.send_modify(|completed| *completed += 1);
                self.room.add_permits(1);
            }
            Reply::Suspended(suspended) => {
                if let (Some(execution_id), Some(tell)) = (suspending, self.suspended.get()) {
                    for granted in &suspended.waitpoints {
                        // Fails when the benchmark wants to know of no more.
                        tell.send(Waitpoint::new(execution_id, granted.clone())).ok();
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

/// The execution an operation suspends.
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

    fn hints(&self) -> Hints {
        self.inner.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.inner.announce(hints)
    }

    fn outages(&self) -> &OutageLog {
        self.inner.outages()
    }
}
