//! Helpers for the tests of the SQL stores, and the tests that both stores run. The tests of each store define a
//! `StoreLocation`, which opens a store.

mod feed;
pub(crate) mod flow;
mod history;

use std::sync::Arc;

use ff_backend_sql::{Driver, SqlStore};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, DeliverArgs, GrantedWaitpoint, SubmitArgs, SuspendArgs, WaitpointRef};
use ff_core::doctor::{Finding, examine};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, Kind, SignalName, TimestampMs, WaitpointKey};

pub(crate) fn at(ms: u64) -> TimestampMs {
    TimestampMs(1_700_000_000_000) + ms
}

pub(crate) fn stopped_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

pub(crate) fn work() -> SubmitArgs {
    SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
}

pub(crate) fn claim_on(id: &ExecutionId) -> ClaimArgs {
    ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap())
}

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

/// Returns a new execution that waits for a signal, and its waitpoint.
pub(crate) async fn suspended(store: &SqlStore<impl Driver>) -> (ExecutionId, GrantedWaitpoint) {
    // The kind is unique, so that no older execution is claimed instead.
    let work = work();
    let kind = Kind::parse(&work.uuid.to_string()).unwrap();
    let id = store.submit(SubmitArgs { kind: kind.clone(), ..work }).await.unwrap().execution_id;
    let claims = store.claim(ClaimArgs { kinds: vec![kind], ..claim_on(&id) }).await.unwrap();
    let fence = claims.claimed[0].task.fence;
    let granted = store.suspend(SuspendArgs::new(id, fence, key("approval"))).await.unwrap().waitpoints.remove(0);
    (id, granted)
}

pub(crate) fn signal(id: &ExecutionId, to: &GrantedWaitpoint, name: &str) -> DeliverArgs {
    let token = PresentedToken::from(&to.waitpoint_token);
    DeliverArgs::new(*id, WaitpointRef::Id(to.waitpoint_id), token, SignalName::parse(name).unwrap())
}

/// Returns the doctor's findings on every partition.
pub(crate) async fn findings(store: &SqlStore<impl Driver>) -> Vec<Finding> {
    let now = store.now().await.unwrap();
    let mut found = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        found.extend(examine(&store.snapshot(partition).await.unwrap(), partition, now));
    }
    found
}
