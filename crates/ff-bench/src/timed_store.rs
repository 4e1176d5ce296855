//! A store with a stopwatch: what the SDK asks of it takes as long as before, and is known afterwards.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ff_core::backend::{EngineStore, Pending, Perform};
use ff_core::hint::{Hint, Hints};
use ff_core::operation::{Operation, Reply};
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::query::{Query, QueryReply};
use ff_core::types::ExecutionId;
use ff_sdk::Waitpoint;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::latency::Latencies;

/// A store whose operations are timed.
pub(super) struct TimedStore {
    store: Arc<dyn EngineStore>,
    pub(super) latencies: Latencies,
    completed: watch::Sender<u64>,
    /// Who wants to know of suspensions, if anybody does.
    suspended: OnceLock<mpsc::UnboundedSender<Waitpoint>>,
    /// One permit for each execution that may be submitted before another is completed.
    room: Semaphore,
}

/// How many executions may be on their way. A line that grows for as long as it is measured would tell how fast one can
/// submit, and after that how fast one can work; what is wanted is both at once.
const ON_THEIR_WAY: usize = 4_000;

impl TimedStore {
    pub(super) fn over(store: Arc<dyn EngineStore>) -> Self {
        let room = Semaphore::new(ON_THEIR_WAY);
        Self {
            store,
            latencies: Latencies::default(),
            completed: watch::Sender::new(0),
            suspended: OnceLock::new(),
            room,
        }
    }

    /// How many executions were completed so far.
    pub(super) fn completed(&self) -> u64 {
        *self.completed.borrow()
    }

    /// Returns when so many executions have been completed.
    pub(super) async fn until_completed(&self, count: u64) {
        // Fails when the sender is gone, which is here.
        self.completed.subscribe().wait_for(|completed| *completed >= count).await.ok();
    }

    /// The waitpoints of what suspends from here on. There is one who wants to know.
    pub(super) fn suspended(&self) -> mpsc::UnboundedReceiver<Waitpoint> {
        let (tell, told) = mpsc::unbounded_channel();
        // A second one would hear nothing, for its sender goes.
        self.suspended.set(tell).ok();
        told
    }

    /// Returns when there is room for one more execution on its way.
    pub(super) async fn room(&self) {
        // Fails when it is closed, which it never is.
        if let Ok(permit) = self.room.acquire().await {
            permit.forget();
        }
    }
}

impl Perform for TimedStore {
    fn partitions(&self) -> PartitionConfig {
        self.store.partitions()
    }

    fn perform(&self, operation: Operation) -> Pending<'_, Reply> {
        Box::pin(async move {
            let (name, execution, began) = (operation.name(), suspending(&operation), Instant::now());
            let reply = self.store.perform(operation).await?;
            self.latencies.took(name, began.elapsed());
            match &reply {
                Reply::Completed(_) => {
                    self.completed.send_modify(|completed| *completed += 1);
                    self.room.add_permits(1);
                }
                Reply::Suspended(suspended) => {
                    if let (Some(execution_id), Some(tell)) = (execution, self.suspended.get()) {
                        for granted in &suspended.waitpoints {
                            // Fails when the benchmark wants to know of no more.
                            tell.send(Waitpoint::new(execution_id, granted.clone())).ok();
                        }
                    }
                }
                _ => {}
            }
            Ok(reply)
        })
    }

    fn query(&self, query: Query) -> Pending<'_, QueryReply> {
        self.store.query(query)
    }
}

/// The execution an operation suspends.
fn suspending(operation: &Operation) -> Option<ExecutionId> {
    match operation {
        Operation::Suspend(args) => Some(args.execution_id),
        _ => None,
    }
}

impl EngineStore for TimedStore {
    fn sweep_every(&self) -> Option<Duration> {
        self.store.sweep_every()
    }

    fn hints(&self) -> Hints {
        self.store.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> Pending<'_, ()> {
        self.store.announce(hints)
    }

    fn outages(&self) -> &OutageLog {
        self.store.outages()
    }
}
