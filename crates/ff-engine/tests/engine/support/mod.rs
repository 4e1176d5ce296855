//! Helpers for the tests of the engine and of the scheduler: a watched store that uses the runtime's clock.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod watched_store;

use std::sync::Arc;
use std::time::Duration;

use ff_backend_memory::MemoryBackend;
use ff_core::backend::EngineStore;
use ff_core::backend::clock::Clock;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::execution::contracts::SubmitArgs;
use ff_core::lease::Holder;
use ff_core::lease::contracts::{ClaimArgs, ClaimedExecution, Claims};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Kind, LaneId, TimestampMs};
use tokio::time::{Instant, sleep_until};

pub(crate) use watched_store::WatchedStore;

/// The runtime's clock, for a store. On a paused runtime, time advances only when all tasks are idle, so a test that waits
/// an hour takes no time and is deterministic.
pub(crate) struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> TimestampMs {
        let since = i64::try_from(self.0.elapsed().as_millis()).unwrap();
        TimestampMs(1_700_000_000_000 + since)
    }
}

/// Returns an empty store with this number of partitions and the runtime's clock.
pub(crate) fn store(partitions: u16) -> Arc<WatchedStore> {
    store_by(partitions, Arc::new(RuntimeClock(Instant::now())))
}

/// Returns an empty store with the given clock.
pub(crate) fn store_by(partitions: u16, clock: Arc<dyn Clock>) -> Arc<WatchedStore> {
    let config = PartitionConfig { num_flow_partitions: partitions, ..PartitionConfig::default() };
    Arc::new(WatchedStore::over(Arc::new(MemoryBackend::new(config, clock, Arc::new(SystemEntropy)))))
}

/// Waits for a time on the runtime's clock. On a paused runtime, everything that is due within that time happens.
pub(crate) async fn let_pass(time: Duration) {
    sleep_until(Instant::now() + time).await;
}

/// Returns a submission of a kind.
pub(crate) fn work(kind: &str) -> SubmitArgs {
    SubmitArgs::new(Kind::parse(kind).unwrap(), Payload::json("1"))
}

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::parse(name).unwrap()
}

pub(crate) fn holder(name: &str) -> Holder {
    Holder::parse("tests", name).unwrap()
}

/// Claims one execution directly from the store, with a lease of one second.
pub(crate) async fn hold(store: &Arc<dyn EngineStore>, id: ExecutionId, worker: &str) -> ClaimedExecution {
    let args = ClaimArgs { kinds: Vec::new(), lease_ttl_ms: 1_000, ..ClaimArgs::new(id.partition(), holder(worker)) };
    let Claims { mut claimed, .. } = store.claim(args).await.unwrap();
    let claimed = claimed.pop().unwrap();
    assert_eq!(claimed.task.execution_id, id);
    claimed
}
