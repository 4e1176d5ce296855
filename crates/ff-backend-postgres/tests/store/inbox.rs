//! Submission within a transaction of the caller.

use std::time::{Duration, Instant};

use ff_backend_postgres::{Inbox, PostgresBackend};
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::SubmitArgs;
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::types::{Capability, ExecutionId, IdempotencyKey, Kind};
use futures_util::StreamExt;
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::load::few;
use crate::{StoreLocation, findings, work};

async fn ready(hints: &mut Hints) {
    let ready = async { while !matches!(hints.next().await, Some(Hint::Ready { .. })) {} };
    timeout(Duration::from_secs(20), ready).await.expect("work is taken up");
}

/// Waits until announced work is committed. It is announced while its commit is under way: a claim comes after the commit, a read
/// may come before it.
async fn committed(store: &PostgresBackend, id: &ExecutionId) {
    let there = async { while store.describe(id).await.is_err() {} };
    timeout(Duration::from_secs(20), there).await.expect("announced work is there in a moment");
}

/// Waits until the inbox is empty. A row is removed only after it was submitted.
async fn emptied(client: &Client) {
    let empty = async {
        while client.query_one("SELECT count(*) FROM inbox", &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), empty).await.expect("nothing is left lying");
}

#[tokio::test]
async fn work_exists_if_and_only_if_its_transaction_commits() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let mut hints = store.hints();
    let mut client = place.look().await;
    let inbox = Inbox::default();

    let undone = client.transaction().await.unwrap();
    let never = inbox.submit(&undone, work()).await.unwrap();
    undone.rollback().await.unwrap();

    let done = client.transaction().await.unwrap();
    done.batch_execute("CREATE TABLE public.orders (item text)").await.unwrap();
    let payload = Payload::bytes(vec![0, 255]);
    let id = inbox.submit(&done, SubmitArgs { payload: payload.clone(), ..work() }).await.unwrap();
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::ExecutionNotFound, "it is not committed yet");
    done.commit().await.unwrap();
    let since = Instant::now();
    ready(&mut hints).await;
    committed(&store, &id).await;
    println!("taken up {:?} after the commit", since.elapsed());

    assert_eq!(store.payload(&id).await.unwrap(), payload);
    assert_eq!(store.describe(&never).await.unwrap_err().code(), Code::ExecutionNotFound);
    emptied(&client).await;
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn work_already_in_the_inbox_is_consumed_once() {
    let place = StoreLocation::new();
    drop(place.open_with(few()).await);
    let client = place.look().await;
    let mut ids = Vec::new();
    for _ in 0..150 {
        ids.push(Inbox::default().submit(&client, work()).await.unwrap());
    }
    let (one, two) = (place.open_with(few()).await, place.open_with(few()).await);
    emptied(&client).await;
    for id in &ids {
        one.describe(id).await.unwrap();
    }
    let count = client.query_one("SELECT count(*) FROM execution", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 150);
    assert_eq!(findings(&two).await, []);
}

#[tokio::test]
async fn work_that_cannot_be_submitted_stays_and_says_why() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let client = place.look().await;
    let keyed = |kind: &str| SubmitArgs {
        kind: Kind::parse(kind).unwrap(),
        idempotency_key: Some(IdempotencyKey::parse("order 7").unwrap()),
        ..work()
    };
    store.submit(keyed("ship")).await.unwrap();
    Inbox::default().submit(&client, keyed("bill")).await.unwrap();
    let refused = async {
        loop {
            let row = client.query_opt("SELECT refused FROM inbox WHERE refused IS NOT NULL", &[]).await.unwrap();
            if let Some(row) = row {
                return row.get::<_, String>(0);
            }
            tokio::task::yield_now().await;
        }
    };
    let why = timeout(Duration::from_secs(20), refused).await.unwrap();
    assert!(why.contains("key"), "{why}");
    let mut large = work();
    large.payload = Payload::bytes(vec![0; 2 * 1024 * 1024]);
    assert!(Inbox::default().submit(&client, large).await.is_err(), "what is over a limit is not even left");
    assert!(Inbox::in_schema("no such schema").is_err());
}

/// Behind a pooler, programs poll for hints and for the inbox and do not listen.
#[tokio::test]
async fn without_listening_programs_still_learn_of_each_others_work() {
    let place = StoreLocation::new();
    let url = format!("{}&listen=off", place.url());
    let open = async || ff_backend_postgres::connect(&url, few()).await.unwrap();
    let (one, two) = (open().await, open().await);
    let mut hints = two.hints();
    let client = place.look().await;
    // The other program ignores notices from before its first poll.
    let arrival = async {
        loop {
            one.submit(work()).await.unwrap();
            if let Ok(Some(Hint::Ready { .. })) = timeout(Duration::from_millis(300), hints.next()).await {
                return;
            }
        }
    };
    timeout(Duration::from_secs(20), arrival).await.unwrap();
    let id = Inbox::default().submit(&client, work()).await.unwrap();
    let taken = async { while one.describe(&id).await.is_err() {} };
    timeout(Duration::from_secs(20), taken).await.unwrap();
    let listening = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'flowfabric listener'";
    assert_eq!(client.query_one(listening, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(findings(&one).await, []);
}

#[tokio::test]
async fn work_with_requirements_is_taken_up_as_well() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let mut hints = store.hints();
    let client = place.look().await;
    let mut required = work();
    required.policy.routing_requirements.required_capabilities = [Capability::parse("gpu").unwrap()].into();
    let id = Inbox::default().submit(&client, required).await.unwrap();
    ready(&mut hints).await;
    committed(&store, &id).await;
    emptied(&client).await;
    assert_eq!(findings(&store).await, []);
}
