//! Transactions that the server undoes are tried again, and nobody but the server knows.

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::ExecutionRoom;
use ff_core::engine_error::Code;
use tokio_postgres::Client;

use crate::load::few;
use crate::support::{Disk, Postgres};
use crate::{Place, findings, work};

/// Has the next so many writes fail with a code.
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
async fn what_the_server_could_not_serialise_is_tried_again() {
    let place = Place::new();
    let store = place.open_with(few()).await;
    let client = place.look().await;
    for code in ["40001", "40P01"] {
        fail_next(&client, 3, code).await;
        let id = store.submit(work()).await.unwrap().execution_id;
        store.describe(&id).await.unwrap();
    }
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn what_never_succeeds_is_not_tried_for_ever_and_leaves_nothing() {
    let place = Place::new();
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

/// A real deadlock: somebody takes the locks of partitions in another order, and the server lets the store give way.
#[tokio::test]
async fn a_deadlock_is_survived() {
    let server = Postgres::start(Disk::Unwaited, &["deadlock_timeout=200ms"]);
    let url = format!("{}&writers=1", server.url("flowfabric"));
    let store = PostgresBackend::connect(&url, few()).await.unwrap();
    let place = Place(server);
    let (outsider, observer) = (place.look().await, place.look().await);
    let lock = "SELECT pg_advisory_lock('flowfabric'::regnamespace::oid::int4, $1)";
    outsider.execute(lock, &[&3_i32]).await.unwrap();
    let submitting = tokio::spawn(async move {
        let answers = store.submit_many((0..200).map(|_| work()).collect()).await.unwrap();
        (store, answers)
    });
    // The store has some partitions by now, and waits for one.
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while observer.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    for partition in [0_i32, 1, 2] {
        outsider.execute(lock, &[&partition]).await.unwrap();
    }
    outsider.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();
    let (store, answers) = submitting.await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(findings(&store).await, []);
}
