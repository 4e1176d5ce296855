//! The feeds of delivered signals: complete up to their limit. Beyond it, readers learn that they missed deliveries.

use ff_backend_sql::{Driver, SqlStore};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage};
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::signal::FeedCursor;

use super::{findings, signal, suspended};
use crate::StoreLocation;

async fn read(store: &SqlStore<impl Driver>, after: Option<FeedCursor>, limit: usize) -> DeliveriesPage {
    store.deliveries(DeliveriesArgs { after, limit }).await.unwrap()
}

#[tokio::test]
async fn a_reader_sees_what_was_delivered_on_any_partition_once() {
    let place = StoreLocation::new();
    let store = place.open_store(None).await;
    let tail = read(&store, None, 10).await;
    assert_eq!((tail.deliveries, &tail.next), (vec![], &FeedCursor::default()));
    let mut sent = Vec::new();
    for _ in 0..7 {
        let (id, granted) = suspended(&store).await;
        sent.push(store.deliver(signal(&id, &granted, "go")).await.unwrap().signal_id);
    }
    sent.sort_unstable();
    let mut seen = Vec::new();
    let mut after = tail.next;
    loop {
        let page = read(&store, Some(after), 3).await;
        assert!(!page.missed);
        after = page.next;
        if page.deliveries.is_empty() {
            break;
        }
        seen.extend(page.deliveries.into_iter().map(|delivery| delivery.signal_id));
    }
    seen.sort_unstable();
    assert_eq!(seen, sent);
    assert_eq!(read(&store, None, 10).await.next, after, "who starts now starts at the end");
}

/// The test writes most of a full feed without the store. New entries then replace the oldest ones.
#[tokio::test]
async fn a_full_feed_keeps_its_newest_and_says_when_some_were_missed() {
    let place = StoreLocation::new();
    let one = PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };
    let store = place.open_store(Some(one)).await;
    let (id, granted) = suspended(&store).await;
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
    store.close().await;
    drop(store);
    let almost_full = limits::FEED - 1;
    place.fill_feed(almost_full).await;

    let store = place.open_store(Some(one)).await;
    let from_the_start = FeedCursor::default();
    assert!(!read(&store, Some(from_the_start.clone()), 1).await.missed, "it is all there");
    let mut sent = Vec::new();
    for _ in 0..4 {
        let (id, granted) = suspended(&store).await;
        sent.push(store.deliver(signal(&id, &granted, "go")).await.unwrap().signal_id);
    }
    let deliveries = store.snapshot(0).await.unwrap().deliveries;
    assert_eq!(deliveries.len(), limits::FEED);
    assert_eq!(deliveries[0].position.nth, 3, "three were pushed out");
    assert!(deliveries.is_sorted_by_key(|delivery| delivery.position));
    let newest: Vec<_> = deliveries[almost_full - 3..].iter().map(|delivery| delivery.signal_id).collect();
    assert_eq!(newest, sent);
    assert!(read(&store, Some(from_the_start), 1).await.missed);
    let reached = FeedCursor([(0, deliveries[0].position)].into());
    let next = read(&store, Some(reached), 1).await;
    assert_eq!((next.missed, &next.deliveries[0].position), (false, &deliveries[1].position));
    assert_eq!(findings(&store).await, []);
}
