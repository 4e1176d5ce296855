//! Lanes, retention and the feed of events, on a file.

use std::sync::Arc;
use std::time::Instant;

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::snapshot::Snapshot;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CompleteArgs, ConfigureLaneArgs, EventsArgs, ListLanesArgs, SetTagsArgs, Setting,
    SubmitArgs, SuspendArgs,
};
use ff_core::engine_error::Code;
use ff_core::event::{EventCursor, EventKind};
use ff_core::execution::{Outcome, Tags};
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, IdempotencyKey, LaneId, Namespace, TagKey, TagValue};
use ff_engine::Orchestration;

use crate::{StoreLocation, claim_on, findings, key, options, signal, stopped_clock, work};

const ONE: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// Opens a store whose clock stands still.
pub(crate) fn store(place: &StoreLocation, partitions: Option<PartitionConfig>) -> (SqliteBackend, Arc<ManualClock>) {
    let clock = stopped_clock();
    let options = SqliteOptions { partitions, clock: clock.clone(), ..options() };
    (ff_backend_sqlite::open(&place.path(), options).unwrap(), clock)
}

/// Returns labels from their names and values.
fn labels(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| (TagKey::parse(key).unwrap(), TagValue::parse(value).unwrap())).collect()
}

async fn cancel(store: &SqliteBackend, execution_id: ExecutionId) {
    store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await.unwrap();
}

#[tokio::test]
async fn a_limit_holds_on_all_partitions_together_and_over_a_restart() {
    let place = StoreLocation::new();
    let (first, clock) = store(&place, None);
    let named = || ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name());
    first.submit_many((0..40).map(|_| work()).collect()).await.unwrap();
    first.configure_lane(ConfigureLaneArgs { concurrency: Setting::To(7), ..named() }).await.unwrap();
    let held = claim_all(&first).await;
    assert_eq!(held.len(), 7);
    first.close().await;
    drop(first);

    let (store, clock) = {
        let options = SqliteOptions { clock: clock.clone(), ..options() };
        (ff_backend_sqlite::open(&place.path(), options).unwrap(), clock)
    };
    assert!(claim_all(&store).await.is_empty());
    for (execution_id, fence) in &held[..3] {
        let done = CompleteArgs { execution_id: *execution_id, fence: *fence, result: None };
        store.complete(done).await.unwrap();
    }
    clock.advance(limits::RECOUNT_MS);
    assert_eq!(claim_all(&store).await.len(), 3);
    assert_eq!(findings(&store).await, []);
    store.configure_lane(ConfigureLaneArgs { concurrency: Setting::Default, ..named() }).await.unwrap();
    assert_eq!(claim_all(&store).await.len(), 30);
}

/// Claims on every partition until nothing more is claimed there.
async fn claim_all(store: &SqliteBackend) -> Vec<(ExecutionId, Fence)> {
    let mut all = Vec::new();
    for partition in 0..256 {
        loop {
            let args = ClaimArgs { max: 100, ..claim_on(&ExecutionId::new(partition, uuid::Uuid::nil())) };
            let claimed = store.claim_within_limit(args).await.unwrap().claimed;
            if claimed.is_empty() {
                break;
            }
            all.extend(claimed.into_iter().map(|claimed| (claimed.task.execution_id, claimed.task.fence)));
        }
    }
    all
}

/// A listing passes over the lanes of other tenants, so its duration does not depend on them.
#[tokio::test]
async fn listing_a_tenants_lanes_takes_no_longer_for_the_lanes_of_another() {
    let place = StoreLocation::new();
    let (store, _) = store(&place, Some(ONE));
    let of = |namespace: &str, lane: &str| SubmitArgs {
        namespace: Namespace::parse(namespace).unwrap(),
        lane: LaneId::parse(lane).unwrap(),
        ..work()
    };
    let tenants = ["default", "zeta"];
    for namespace in tenants {
        store.submit_many(vec![of(namespace, "a"), of(namespace, "z")]).await.unwrap();
    }
    let list = async |namespace| {
        let namespace = Some(Namespace::parse(namespace).unwrap());
        let mut took = Vec::new();
        for _ in 0..11 {
            let began = Instant::now();
            let args = ListLanesArgs { namespace: namespace.clone(), after: None, limit: 10, finished: true };
            let page = store.list_lanes(args).await.unwrap();
            took.push(began.elapsed());
            assert_eq!((page.lanes.len(), page.next), (2, None));
        }
        took.sort_unstable();
        took[took.len() / 2]
    };
    let alone = [list(tenants[0]).await, list(tenants[1]).await];
    for thousand in 0..5 {
        let many = (0..limits::BULK).map(|nth| of("large", &format!("lane-{thousand}-{nth}"))).collect();
        store.submit_many(many).await.unwrap();
    }
    for (namespace, alone) in tenants.into_iter().zip(alone) {
        let took = list(namespace).await;
        assert!(took < alone * 10, "{namespace}: {took:?} beside 5 000 lanes of another tenant, {alone:?} without");
    }
}

#[tokio::test]
async fn nothing_is_left_of_what_was_kept_for_long_enough() {
    let place = StoreLocation::new();
    let (store, clock) = store(&place, Some(ONE));
    let empty = store.snapshot(0).await.unwrap();
    let mut args = SubmitArgs { tags: labels(&[("team", "blue")]), ..work() };
    args.idempotency_key = Some(IdempotencyKey::parse("once").unwrap());
    args.policy.dedup_window_ms = 1_000;
    args.policy.retention_ms = Some(1_000);
    let id = store.submit(args.clone()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let granted = store.suspend(SuspendArgs::new(id, fence, key("a"))).await.unwrap().waitpoints.remove(0);
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
    store.set_tags(SetTagsArgs { execution_id: id, set: labels(&[("more", "1")]), remove: [].into() }).await.unwrap();
    cancel(&store, id).await;
    clock.advance(999);
    assert_eq!(store.pump(0).await.unwrap().fired, 0);
    clock.advance(1);
    assert_eq!(store.pump(0).await.unwrap().fired, 1);
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::ExecutionNotFound);
    let left = store.snapshot(0).await.unwrap();
    assert_eq!(left.deliveries.len(), 1, "a feed keeps its entries");
    assert_eq!(Snapshot { deliveries: vec![], ..left }, empty);
    assert!(!store.submit(args).await.unwrap().duplicate, "its key is free again");
    store.close().await;
    let rows = |table: &str| place.look().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
    for table in ["attempt", "lease_event", "waitpoint", "suspend_key", "signal", "signal_key", "lease", "due"] {
        assert_eq!(rows(table), Ok(0), "{table}");
    }
}

#[tokio::test]
async fn a_reader_continues_from_its_cursor_after_a_restart() {
    let place = StoreLocation::new();
    let (first, clock) = store(&place, None);
    let read = |after| EventsArgs { after, namespace: None, execution: None, limit: 100 };
    first.submit(work()).await.unwrap();
    let start = first.events(read(None)).await.unwrap();
    let id = first.submit(work()).await.unwrap().execution_id;
    first.close().await;
    drop(first);
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: clock.clone(), ..options() }).unwrap();
    cancel(&store, id).await;
    let cursor: EventCursor = start.next.to_string().parse().unwrap();
    let page = store.events(read(Some(cursor))).await.unwrap();
    let events: Vec<_> = page.events.iter().map(|event| (event.execution_id, event.what)).collect();
    let ended = EventKind::Finished { outcome: Outcome::Cancelled };
    assert_eq!((events, page.missed), (vec![(id, EventKind::Submitted), (id, ended)], false));
    assert_eq!(findings(&store).await, []);
}
