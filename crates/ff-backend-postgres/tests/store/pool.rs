//! The pool of reading connections is bounded, and a caller that finds none free gets an error.

use std::sync::Arc;

use ff_core::backend::Perform;
use ff_core::engine_error::Code;

use crate::load::few;
use crate::{StoreLocation, work};

#[tokio::test]
async fn a_caller_without_a_free_connection_gets_an_error_in_time() {
    let place = StoreLocation::new();
    let url = format!("{}&readers=1", place.url());
    let store = Arc::new(ff_backend_postgres::connect(&url, few()).await.unwrap());
    let id = store.submit(work()).await.unwrap().execution_id;
    let (mut client, observer) = (place.look().await, place.look().await);
    let blocking = client.transaction().await.unwrap();
    blocking.batch_execute("LOCK TABLE submission IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let blocked = tokio::spawn({
        let store = store.clone();
        async move { store.payload(&id).await }
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND NOT granted";
    while observer.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    let error = store.describe(&id).await.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(error.to_string().contains("all 1 connections that read have been in use"), "{error}");
    blocking.rollback().await.unwrap();
    blocked.await.unwrap().unwrap();
    store.describe(&id).await.unwrap();
}
