//! Hints come after their commit.

use std::pin::pin;
use std::sync::Arc;

use ff_core::backend::hint::Hint;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CancelArgs, DeliveriesArgs};
use ff_core::signal::FeedCursor;
use ff_engine::Orchestration;
use futures_util::StreamExt;

use crate::{StoreLocation, signal, suspended, work};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_comes_after_the_commit_is_visible() {
    const MANY: usize = 200;
    let place = StoreLocation::new();
    let store = Arc::new(place.open());
    let ended = store.hints().filter_map(async |hint| match hint {
        Hint::Ended { execution_id } => Some(execution_id),
        _ => None,
    });
    let looking = store.clone();
    let listener = tokio::spawn(async move {
        let mut ended = pin!(ended.take(MANY));
        while let Some(id) = ended.next().await {
            looking.result(&id).await.unwrap();
        }
    });
    for _ in 0..MANY {
        let execution_id = store.submit(work()).await.unwrap().execution_id;
        store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await.unwrap();
    }
    listener.await.unwrap();
}

#[tokio::test]
async fn a_listener_that_fell_behind_gets_a_missed_hint() {
    let place = StoreLocation::new();
    let store = place.open();
    let mut hints = store.hints();
    for _ in 0..5 {
        store.submit_many((0..1_000).map(|_| work()).collect()).await.unwrap();
    }
    assert_eq!(hints.next().await, Some(Hint::Missed));
    assert!(matches!(hints.next().await, Some(Hint::Ready { .. })), "and it goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_is_in_the_feed_before_its_hint_arrives() {
    const MANY: usize = 50;
    let place = StoreLocation::new();
    let store = Arc::new(place.open());
    let partitions = store.hints().filter_map(async |hint| match hint {
        Hint::SignalDelivered { partition } => Some(partition),
        _ => None,
    });
    let looking = store.clone();
    let listener = tokio::spawn(async move {
        let mut partitions = pin!(partitions.take(MANY).enumerate());
        let (mut after, mut seen) = (FeedCursor::default(), 0);
        while let Some((nth, partition)) = partitions.next().await {
            let page = looking.deliveries(DeliveriesArgs { after: Some(after), limit: MANY }).await.unwrap();
            seen += page.deliveries.len();
            after = page.next;
            assert!(seen > nth && after.0.contains_key(&partition));
        }
    });
    for _ in 0..MANY {
        let (id, granted) = suspended(&store).await;
        store.deliver(signal(&id, &granted, "go")).await.unwrap();
    }
    listener.await.unwrap();
}
