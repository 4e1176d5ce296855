//! State that survives a restart.

use std::sync::Arc;

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CompleteArgs, DeliverArgs, RevokeArgs, Start, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::types::IdempotencyKey;

use crate::{StoreLocation, at, claim_on, findings, options, signal, stopped_clock, suspended, work};

/// The store has its default durability, so that the test also waits for the disk.
#[tokio::test]
async fn everything_is_there_after_reopening() {
    let place = StoreLocation::new();
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions::default()).unwrap();
    let keyed = SubmitArgs { idempotency_key: Some(IdempotencyKey::parse("order 7").unwrap()), ..work() };
    let done = store.submit(keyed.clone()).await.unwrap().execution_id;
    let lost = store.claim(claim_on(&done)).await.unwrap().claimed.remove(0).task;
    store.revoke(RevokeArgs { execution_id: done, lease_id: Some(lost.fence.lease_id), reason: None }).await.unwrap();
    let held = store.claim(claim_on(&done)).await.unwrap().claimed.remove(0).task;
    let result = Some(Payload::bytes(vec![0, 255]));
    store.complete(CompleteArgs { execution_id: done, fence: held.fence, result }).await.unwrap();
    let later = store.submit(SubmitArgs { start: Start::After(60_000), ..work() }).await.unwrap().execution_id;
    let (waits, granted) = suspended(&store).await;
    let (resumed, used) = suspended(&store).await;
    let args = DeliverArgs { idempotency_key: keyed.idempotency_key.clone(), ..signal(&resumed, &used, "go") };
    let signalled = store.deliver(args.clone()).await.unwrap().signal_id;

    let before = everything(&store).await;
    let (ended, tried) = (store.result(&done).await, store.attempts(&done).await);
    store.close().await;
    drop(store);

    let store = place.open();
    assert_eq!(everything(&store).await, before);
    assert_eq!((store.result(&done).await, store.attempts(&done).await), (ended, tried));
    assert!(store.submit(keyed).await.unwrap().duplicate, "its key is remembered");
    assert_eq!(store.describe(&later).await.unwrap().public_state.as_str(), "delayed");
    assert_eq!(store.deliver(args).await.unwrap().signal_id, signalled, "as is a signal's");
    store.deliver(signal(&waits, &granted, "go")).await.unwrap();
    assert_eq!(findings(&store).await, []);
}

async fn everything(store: &SqliteBackend) -> Vec<ff_core::backend::snapshot::Snapshot> {
    let mut all = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        all.push(store.snapshot(partition).await.unwrap());
    }
    all
}

#[tokio::test]
async fn time_does_not_run_backwards_over_a_restart() {
    let place = StoreLocation::new();
    let clock = stopped_clock();
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: clock.clone(), ..options() }).unwrap();
    clock.advance(5_000);
    store.submit(work()).await.unwrap();
    drop(store);

    let earlier = Arc::new(ManualClock::at(at(0)));
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: earlier.clone(), ..options() }).unwrap();
    assert_eq!(store.now().await, Ok(at(5_000)));
    earlier.advance(6_000);
    assert_eq!(store.now().await, Ok(at(6_000)));
}
