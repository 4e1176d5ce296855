//! Flows in a file: they are visible completely or not at all, run to their end, and survive a restart.

use ff_backend_sqlite::SqliteOptions;
use ff_core::backend::snapshot::Snapshot;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{Filter, FlowEventsArgs, ListArgs, Start, SubmitArgs};
use ff_core::engine_error::Code;
use ff_core::flow::FlowState;
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::Namespace;
use ff_engine::Orchestration;
use futures_util::FutureExt;

use crate::shared::flow::{chain, claim, complete, count, drain, fan_out, member, partition_of, run};
use crate::{StoreLocation, findings, options, stopped_clock, work};

fn everything() -> ListArgs {
    ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 1_000 }
}

/// Most of a full list of events is written without the store. New events then push the oldest ones out.
#[tokio::test]
async fn the_newest_flow_events_are_kept_and_missed_ones_are_reported() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(chain(2)).await.unwrap().flow_id;
    let before = store.flow_events(FlowEventsArgs { flow_id: id, from: 0, limit: 9 }).await.unwrap().next;
    store.close().await;
    drop(store);
    let (sqlite, full) = (place.look(), i64::try_from(limits::FLOW_EVENTS).unwrap());
    let fill = "
        WITH RECURSIVE more (seq) AS (SELECT ?1 UNION ALL SELECT seq + 1 FROM more WHERE seq < ?2 - 1)
        INSERT INTO flow_event
        SELECT flow_id, more.seq, json_set(record, '$.seq', more.seq) FROM flow_event, more WHERE flow_event.seq = 0";
    sqlite.execute(fill, [i64::try_from(before).unwrap(), full]).unwrap();
    sqlite.execute("UPDATE flow SET record = json_set(record, '$.events', ?1)", [full]).unwrap();
    drop(sqlite);

    let store = place.open();
    run(&store, &id).await;
    let events = store.snapshot(partition_of(&store, &id)).await.unwrap().flow_events.remove(&id).unwrap();
    assert_eq!(events.len(), limits::FLOW_EVENTS);
    assert!(events[0].seq > 0 && events.windows(2).all(|two| two[0].seq + 1 == two[1].seq));
    let page = store.flow_events(FlowEventsArgs { flow_id: id, from: 0, limit: 1 }).await.unwrap();
    assert!(page.missed && page.events == events[..1]);
}

#[tokio::test]
async fn a_submission_that_stopped_half_way_is_not_there_and_then_gone() {
    let place = StoreLocation::new();
    let clock = stopped_clock();
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: clock.clone(), ..options() }).unwrap();
    let large = fan_out(499);
    let id = large.header.flow_id;
    let mut submission = Box::pin(store.submit_flow(large.clone()));
    assert!(submission.as_mut().now_or_never().is_none());
    // This operation is queued behind the first parts of the submission, so they are done when it is answered. The submission is
    // dropped before its last part.
    store.submit(SubmitArgs { start: Start::After(2 * limits::STAGING_MS), ..work() }).await.unwrap();
    drop(submission);
    let partition = partition_of(&store, &id);
    let members = |snapshot: Snapshot| snapshot.executions.values().filter(|one| one.membership.is_some()).count();
    assert!((1..500).contains(&members(store.snapshot(partition).await.unwrap())));
    assert_eq!(store.describe_flow(&id).await.unwrap_err().code(), Code::FlowNotFound);
    let staged = member(&store, &id, 0);
    assert_eq!(store.describe(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(store.payload(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(store.list(everything()).await.unwrap().executions.len(), 1);
    assert!(claim(&store, &id, 10).await.is_empty());
    assert_eq!(findings(&store).await, []);
    clock.advance(limits::STAGING_MS);
    drain(&store, &id).await;
    let left = store.snapshot(partition).await.unwrap();
    assert!(left.edges.is_empty() && left.groups.is_empty() && left.flows.is_empty());
    assert_eq!(left.executions.len(), left.payloads.len());
    assert_eq!(members(left), 0);
    assert!(!store.submit_flow(large).await.unwrap().duplicate);
}

#[tokio::test]
async fn a_large_flow_is_there_at_once_and_listed_as_its_members_are_opened() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(fan_out(449)).await.unwrap().flow_id;
    assert_eq!(store.describe_flow(&id).await.unwrap().nodes, 450);
    let last = member(&store, &id, 449);
    assert_eq!(store.describe(&last).await.unwrap().public_state, PublicState::WaitingChildren);
    assert!(store.list(everything()).await.unwrap().executions.is_empty());
    drain(&store, &id).await;
    assert_eq!(store.list(everything()).await.unwrap().executions.len(), 450);
    run(&store, &id).await;
    assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
    assert_eq!(findings(&store).await, []);
}

/// A process is killed while many notifications of dependents are pending.
#[tokio::test]
async fn notifications_pending_at_a_kill_are_sent_by_the_next_process() {
    let (living, killed) = (StoreLocation::new(), StoreLocation::new());
    let store = living.open();
    let id = store.submit_flow(fan_out(299)).await.unwrap().flow_id;
    drain(&store, &id).await;
    let root = claim(&store, &id, 1).await.remove(0);
    complete(&store, &root).await;
    std::fs::copy(living.path(), killed.path()).unwrap();
    std::fs::copy(crate::beside(&living.path(), "-wal"), crate::beside(&killed.path(), "-wal")).unwrap();

    let store = killed.open();
    let partition = partition_of(&store, &id);
    assert_eq!(count(&store, &id, PublicState::Waiting).await, limits::FLOW_STEP, "the rest is owed");
    assert_eq!(findings(&store).await, []);
    assert!(store.sweep(partition).await.unwrap().next_due.unwrap() <= store.now().await.unwrap());
    run(&store, &id).await;
    assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
    assert_eq!(findings(&store).await, []);
}
