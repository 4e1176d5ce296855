//! Hints come after their commit and reach every program.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::hint::Hint;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CancelArgs, Start, SubmitArgs};
use ff_core::types::ExecutionId;
use ff_engine::Orchestration;
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::shared::flow::{chain, run};
use crate::{StoreLocation, claim_on, signal, suspended, work};

fn cancel(execution_id: ExecutionId) -> CancelArgs {
    CancelArgs { execution_id, reason: None, requested_by: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_comes_after_the_commit_is_visible_here_and_elsewhere() {
    const MANY: usize = 100;
    let place = StoreLocation::new();
    let (store, other) = (Arc::new(place.open().await), Arc::new(place.open().await));
    let listener = |looking: Arc<PostgresBackend>| {
        let ended = looking.hints().filter_map(async |hint| match hint {
            Hint::Ended { execution_id } => Some(execution_id),
            _ => None,
        });
        tokio::spawn(async move {
            let mut ended = pin!(ended.take(MANY));
            while let Some(id) = ended.next().await {
                looking.result(&id).await.unwrap();
            }
        })
    };
    let listeners = [listener(store.clone()), listener(other)];
    for _ in 0..MANY {
        let execution_id = store.submit(work()).await.unwrap().execution_id;
        store.cancel(cancel(execution_id)).await.unwrap();
    }
    for listener in listeners {
        listener.await.unwrap();
    }
}

#[tokio::test]
async fn every_local_hint_also_reaches_another_process() {
    let place = StoreLocation::new();
    let (store, other) = (place.open().await, place.open().await);
    let (mut here, mut elsewhere) = (store.hints(), other.hints());
    store.submit(SubmitArgs { start: Start::After(60_000), ..work() }).await.unwrap();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.claim(claim_on(&id)).await.unwrap();
    store.cancel(cancel(id)).await.unwrap();
    let (waits, granted) = suspended(&store).await;
    store.deliver(signal(&waits, &granted, "go")).await.unwrap();
    for nth in 0..9 {
        let local = timeout(Duration::from_secs(20), here.next()).await.unwrap();
        let remote = timeout(Duration::from_secs(20), elsewhere.next()).await;
        assert!(local.is_some() && remote.is_ok(), "hint {nth}: {local:?} here, {remote:?} elsewhere");
    }
}

#[tokio::test]
async fn flow_hints_reach_another_process() {
    let place = StoreLocation::new();
    let (store, other) = (place.open().await, place.open().await);
    let mut hints = other.hints();
    let flow_id = store.submit_flow(chain(2)).await.unwrap().flow_id;
    run(&store, &flow_id).await;
    for expected in [Hint::FlowMoved { flow_id }, Hint::FlowEnded { flow_id }] {
        let arrival = timeout(Duration::from_secs(20), async {
            while hints.next().await.is_some_and(|hint| hint != expected) {}
        });
        assert!(arrival.await.is_ok(), "{expected:?}");
    }
    assert!(other.describe_flow(&flow_id).await.unwrap().ended_at.is_some());
}

/// A note costs as much as a small transaction, so a program that is alone sends none.
#[tokio::test]
async fn no_note_is_sent_until_another_process_listens() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let (ear, mut overheard) = place.overhear().await;
    store.submit(work()).await.unwrap();
    ear.batch_execute("NOTIFY flowfabric_hints, 'end'").await.unwrap();
    assert_eq!(overheard.recv().await.unwrap(), "end", "nothing came before it");
    let other = place.open().await;
    let mut hints = other.hints();
    store.submit(work()).await.unwrap();
    let hint = timeout(Duration::from_secs(20), hints.next()).await.unwrap();
    assert!(matches!(hint, Some(Hint::Ready { .. })), "{hint:?}");
}

/// A program whose listening connection was lost sweeps everything once it listens again.
#[tokio::test]
async fn a_lost_listener_connection_gives_a_missed_hint() {
    let place = StoreLocation::new();
    let (store, other) = (place.open().await, place.open().await);
    let mut hints = other.hints();
    let kill = "
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flowfabric listener'";
    assert_eq!(place.look().await.query(kill, &[]).await.unwrap().len(), 2);
    let missed = timeout(Duration::from_secs(20), hints.next()).await.unwrap();
    assert_eq!(missed, Some(Hint::Missed));
    store.submit(work()).await.unwrap();
    let next = timeout(Duration::from_secs(20), hints.next()).await.unwrap();
    assert!(matches!(next, Some(Hint::Ready { .. })), "{next:?}");
}
