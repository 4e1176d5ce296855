//! The outbox: an event for dependents that could not be notified at once is dispatched once, by the first caller or pump.

use ff_backend_postgres::PostgresBackend;
use ff_backend_postgres::dispatch::{DispatchOutcome, dispatch_completion};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CascadeArgs, CascadeStep, FlowEventsArgs};
use ff_core::flow::FlowEventKind;
use ff_core::limits::{self, FLOW_STEP};
use ff_core::state::PublicState;
use ff_core::types::FlowId;
use ff_engine::Orchestration;

use crate::shared::flow::{chain, claim, complete, count, drain, fan_out, member, run};
use crate::{StoreLocation, findings};

const WIDTH: usize = 300;

/// Submits a flow and ends its first node, which has more dependents than one step notifies.
async fn pending_flow(store: &PostgresBackend, width: usize) -> FlowId {
    let id = store.submit_flow(fan_out(width)).await.unwrap().flow_id;
    drain(store, &id).await;
    let root = claim(store, &id, 1).await.remove(0);
    complete(store, &root).await;
    assert_eq!(count(store, &id, PublicState::Waiting).await, FLOW_STEP);
    id
}

/// Returns every event: its number, the ended execution, the outcome, and whether it is stamped.
async fn events(place: &StoreLocation) -> Vec<(i64, String, String, bool)> {
    let sql = "
        SELECT event_id, '{fp:' || partition || '}:' || uuid, outcome, dispatched_at_ms >= created_at_ms IS TRUE
        FROM ff_completion_event ORDER BY event_id";
    let rows = place.look().await.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
}

fn dispatched(resolved: usize) -> DispatchOutcome {
    let resolved = u32::try_from(resolved).unwrap();
    DispatchOutcome::Dispatched(CascadeStep { resolved, ..CascadeStep::default() })
}

#[tokio::test]
async fn an_end_propagated_at_once_leaves_no_event() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let id = store.submit_flow(chain(5)).await.unwrap().flow_id;
    run(&store, &id).await;
    assert_eq!(events(&place).await, []);
}

#[tokio::test]
async fn a_dispatch_notifies_pending_dependents_and_a_repeat_does_nothing() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let id = pending_flow(&store, WIDTH).await;
    let root = member(&store, &id, 0).to_string();
    let event = |stamped| vec![(1, root.clone(), "success".to_owned(), stamped)];
    assert_eq!(events(&place).await, event(false));

    assert_eq!(dispatch_completion(&store, 1).await, Ok(dispatched(WIDTH - FLOW_STEP)));
    assert_eq!(count(&store, &id, PublicState::Waiting).await, WIDTH);
    assert_eq!(events(&place).await, event(true));

    let commits = store.commits();
    assert_eq!(dispatch_completion(&store, 1).await, Ok(DispatchOutcome::AlreadyDispatched));
    assert_eq!(dispatch_completion(&store, 2).await, Ok(DispatchOutcome::NotFound));
    assert_eq!(store.commits(), commits);
    assert_eq!(findings(&store).await, []);
}

/// The first program dies after one step. Another finds the event unstamped and notifies only the remaining dependents.
#[tokio::test]
async fn a_dispatch_that_ends_half_way_is_taken_up_by_another() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let id = pending_flow(&store, WIDTH).await;
    let step = store.cascade(CascadeArgs { execution_id: member(&store, &id, 0), pending_since: None }).await.unwrap();
    assert_eq!((step.resolved as usize, step.more), (FLOW_STEP, true));
    drop(store);

    let store = place.open().await;
    assert!(!events(&place).await[0].3);
    assert_eq!(dispatch_completion(&store, 1).await, Ok(dispatched(WIDTH - 2 * FLOW_STEP)));
    assert!(events(&place).await[0].3);
    assert_eq!(count(&store, &id, PublicState::Waiting).await, WIDTH);
}

/// The stamp is part of the transaction that notifies the last dependents: they are committed together or not at all.
#[tokio::test]
async fn a_dispatch_that_cannot_stamp_notifies_no_dependents() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let width = FLOW_STEP + 9;
    let id = pending_flow(&store, width).await;
    let client = place.look().await;
    let jam = "
        CREATE FUNCTION jam() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'jammed'; END $$;
        CREATE TRIGGER jammed BEFORE UPDATE ON ff_completion_event FOR EACH ROW EXECUTE FUNCTION jam()";
    client.batch_execute(jam).await.unwrap();
    let error = dispatch_completion(&store, 1).await.unwrap_err();
    assert!(error.to_string().contains("jammed"), "{error}");
    assert_eq!(count(&store, &id, PublicState::Waiting).await, FLOW_STEP);

    client.batch_execute("DROP TRIGGER jammed ON ff_completion_event").await.unwrap();
    assert_eq!(dispatch_completion(&store, 1).await, Ok(dispatched(9)));
    assert_eq!(count(&store, &id, PublicState::Waiting).await, width);
}

/// Two programs dispatch the same event while both pump: every dependent is notified once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pumps_and_dispatchers_together_pay_once() {
    const WIDE: usize = 1_000;
    let place = StoreLocation::new();
    let (one, two) = (place.open().await, place.open().await);
    let id = pending_flow(&one, WIDE).await;
    let dispatched = async |store| dispatch_completion(store, 1).await.unwrap();
    let (first, second, ..) = tokio::join!(dispatched(&one), dispatched(&two), drain(&one, &id), drain(&two, &id));
    let resolved = |outcome| match outcome {
        DispatchOutcome::Dispatched(cascaded) => cascaded.resolved as usize,
        DispatchOutcome::AlreadyDispatched => 0,
        DispatchOutcome::NotFound => panic!("the event is gone"),
    };
    assert!(resolved(first) + resolved(second) <= WIDE - FLOW_STEP);
    assert_eq!(events(&place).await.iter().map(|event| event.3).collect::<Vec<_>>(), [true]);
    assert_eq!(count(&one, &id, PublicState::Waiting).await, WIDE);

    let root = member(&one, &id, 0);
    let (mut released, mut from) = (0, 0);
    loop {
        let page = one.flow_events(FlowEventsArgs { flow_id: id, from, limit: limits::PAGE }).await.unwrap();
        let freed = |what: &FlowEventKind| match what {
            FlowEventKind::Moved { from, execution_id, .. } => {
                *from == PublicState::WaitingChildren && *execution_id != root
            }
            _ => false,
        };
        released += page.events.iter().filter(|event| freed(&event.what)).count();
        if page.events.is_empty() {
            break;
        }
        from = page.next;
    }
    assert_eq!(released, WIDE, "each left its place once");
    assert_eq!(one.pump(root.partition()).await.unwrap().fired, 0);
    assert_eq!(findings(&one).await, []);
}

#[tokio::test]
async fn the_pump_stamps_the_completion_events_it_settles() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let id = pending_flow(&store, WIDTH).await;
    drain(&store, &id).await;
    assert!(events(&place).await[0].3);
    assert_eq!(dispatch_completion(&store, 1).await, Ok(DispatchOutcome::AlreadyDispatched));
}
