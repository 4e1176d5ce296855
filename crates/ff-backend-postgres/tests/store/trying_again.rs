//! Transactions that the server undoes are tried again, without callers noticing.

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{CancelArgs, ConfigureLaneArgs, SubmitArgs};
use ff_core::engine_error::Code;
use ff_core::flow::FlowState;
use ff_core::lane::LaneState;
use ff_core::state::PublicState;
use ff_core::types::{LaneId, TagKey, TagValue};
use ff_engine::Orchestration;
use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::load::{PARTITIONS, few};
use crate::shared::flow::{chain, run};
use crate::{StoreLocation, findings, work};

/// Makes the next `times` writes fail with a code.
async fn fail_next(client: &Client, times: u32, code: &str) {
    let sql = format!(
        "DROP SEQUENCE IF EXISTS failures;
         CREATE SEQUENCE failures;
         CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('failures') <= {times} THEN RAISE EXCEPTION 'not now' USING ERRCODE = '{code}'; END IF;
             RETURN NULL;
         END $$;
         CREATE OR REPLACE TRIGGER fails AFTER INSERT ON execution FOR EACH STATEMENT EXECUTE FUNCTION fail()"
    );
    client.batch_execute(&sql).await.unwrap();
}

#[tokio::test]
async fn serialization_failures_and_deadlocks_are_retried() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let client = place.look().await;
    for code in ["40001", "40P01"] {
        fail_next(&client, 3, code).await;
        let id = store.submit(work()).await.unwrap().execution_id;
        store.describe(&id).await.unwrap();
    }
    assert_eq!(findings(&store).await, []);
}

/// A batch is decided while the commit before it is on its way. If that commit fails, both are decided again.
#[tokio::test]
async fn a_batch_after_a_failed_commit_is_decided_again() {
    let place = StoreLocation::new();
    let url = format!("{}&writers=1", place.url());
    let store = ff_backend_postgres::connect(&url, few()).await.unwrap();
    fail_next(&place.look().await, 5, "40001").await;
    let submit_and_cancel = |_| async {
        // The runs of flows below do not claim from this lane.
        let lane = LaneId::parse("cancelled").unwrap();
        let id = store.submit(SubmitArgs { lane, ..work() }).await.unwrap().execution_id;
        store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
        id
    };
    // The end of a member sends statements before the commit of its batch.
    let run_flows = async {
        for _ in 0..8 {
            let flow = store.submit_flow(chain(3)).await.unwrap().flow_id;
            run(&store, &flow).await;
            assert_eq!(store.describe_flow(&flow).await.unwrap().state, FlowState::Completed);
        }
    };
    let (ids, ()) = join(join_all((0..64).map(submit_and_cancel)), run_flows).await;
    for id in ids {
        assert_eq!(store.describe(&id).await.unwrap().state.public_state, PublicState::Cancelled);
    }
    assert_eq!(findings(&store).await, []);
}

/// Rows are sent in the row type of their table, which a newer program may change meanwhile.
#[tokio::test]
async fn columns_that_a_newer_program_adds_are_left_empty() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    store.submit(work()).await.unwrap();
    place.look().await.batch_execute("ALTER TABLE execution ADD COLUMN newer text").await.unwrap();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_transaction_that_keeps_failing_gives_up_and_writes_nothing() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let client = place.look().await;
    fail_next(&client, 1_000, "40001").await;
    let error = store.submit(work()).await.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable, "nothing happened, so nothing is unknown: {error}");
    client.batch_execute("DROP TRIGGER fails ON execution").await.unwrap();
    let count = client.query_one("SELECT count(*) FROM execution", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 0);
    store.submit(work()).await.unwrap();
}

/// Submitted ids are taken for new. An existing id is found by its primary key, or looked up when its lane refuses new work.
#[tokio::test]
async fn an_id_that_was_submitted_before_is_found() {
    let place = StoreLocation::new();
    let tags = [(TagKey::parse("team").unwrap(), TagValue::parse("blue").unwrap())].into();
    let [first, second] = [0, 1].map(|_| SubmitArgs { uuid: Uuid::new_v4(), ..work() });
    let first = SubmitArgs { tags, ..first };
    let store = place.open_with(few()).await;
    let [of_first, of_second] = [first.clone(), second.clone()].map(|work| store.submit(work));
    let ids = [of_first.await.unwrap().execution_id, of_second.await.unwrap().execution_id];
    drop(store);
    let store = place.open_with(few()).await;
    let again = store.submit(first.clone()).await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (ids[0], true));
    drop(store);
    let store = place.open_with(few()).await;
    let lane = ConfigureLaneArgs::new(second.namespace.clone(), second.lane.clone());
    store.configure_lane(ConfigureLaneArgs { state: Some(LaneState::Draining), ..lane }).await.unwrap();
    assert_eq!(store.submit(work()).await.unwrap_err().code(), Code::NotRunnable);
    let again = store.submit(second).await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (ids[1], true));
    assert_eq!(findings(&store).await, []);
}

/// A real deadlock: another session takes partition locks in another order. The session that detects it gives way, and only the
/// store's session looks for one.
#[tokio::test]
async fn a_deadlock_is_survived() {
    let place = StoreLocation::new();
    let url = format!("{}&writers=1", place.url());
    let store = ff_backend_postgres::connect(&url, few()).await.unwrap();
    let (outsider, observer) = (place.look().await, place.look().await);
    outsider.batch_execute("SET deadlock_timeout = '1h'").await.unwrap();
    lock(&outsider, 3).await;
    for partition in [0, 1, 2] {
        lock(&observer, partition).await;
    }
    // While the writer waits for the first, all others queue up and become one batch on every partition.
    let mut first = store.submit(work_on(&store, 0)).boxed();
    assert!(first.as_mut().now_or_never().is_none());
    wait_for_lock_waiter(&observer, 0).await;
    let mut many = store.submit_many((0..200).map(|_| work()).collect()).boxed();
    // Each poll lets some of the partitions have their turn.
    for _ in 0..PARTITIONS {
        assert!(many.as_mut().now_or_never().is_none());
    }
    unlock(&observer, 0).await;
    unlock(&observer, 1).await;
    first.await.unwrap();
    wait_for_lock_waiter(&observer, 2).await;
    let taking = tokio::spawn(async move {
        lock(&outsider, 0).await;
        outsider.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();
    });
    wait_for_lock_waiter(&observer, 0).await;
    unlock(&observer, 2).await;
    let answers = many.await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    taking.await.unwrap();
    let deadlocks = "SELECT sum(deadlocks)::int8 FROM pg_stat_database";
    while observer.query_one(deadlocks, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(findings(&store).await, []);
}

/// Returns new work on a partition.
pub(crate) fn work_on(store: &PostgresBackend, partition: u16) -> SubmitArgs {
    let mut works = std::iter::repeat_with(|| SubmitArgs { uuid: Uuid::new_v4(), ..work() });
    works.find(|work| work.execution_id(&store.partitions()).partition() == partition).unwrap()
}

pub(crate) async fn lock(client: &Client, partition: i32) {
    let lock = "SELECT pg_advisory_lock('flowfabric'::regnamespace::oid::int4, $1)";
    client.execute(lock, &[&partition]).await.unwrap();
}

pub(crate) async fn unlock(client: &Client, partition: i32) {
    let unlock = "SELECT pg_advisory_unlock('flowfabric'::regnamespace::oid::int4, $1)";
    client.execute(unlock, &[&partition]).await.unwrap();
}

pub(crate) async fn wait_for_lock_waiter(client: &Client, partition: i64) {
    let waits = "
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid::int8 = $1 AND NOT granted";
    while client.query_one(waits, &[&partition]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
}
