//! Closing and dropping a store.

use ff_core::backend::{EngineStore, Perform};
use ff_core::engine_error::Code;
use futures_util::StreamExt;
use futures_util::future::join_all;

use crate::{StoreLocation, beside, work};

#[tokio::test]
async fn queued_operations_finish_before_the_store_closes() {
    let place = StoreLocation::new();
    let store = place.open();
    let submissions = join_all((0..100).map(|_| store.submit(work())));
    let (submitted, ()) = tokio::join!(submissions, store.close());
    drop(store);
    let store = place.open();
    for submitted in submitted {
        let id = submitted.unwrap().execution_id;
        assert_eq!(store.describe(&id).await.unwrap().execution_id, id);
    }
}

#[tokio::test]
async fn a_closed_store_says_so_and_leaves_one_file() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.describe(&id).await.unwrap();
    store.close().await;
    assert_eq!(store.submit(work()).await.unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::StoreUnavailable);
    assert!(!beside(&place.path(), "-wal").exists(), "the log is in the file");
    store.close().await;
    place.open();
}

#[tokio::test]
async fn hints_end_with_their_store() {
    let place = StoreLocation::new();
    let store = place.open();
    let mut hints = store.hints();
    drop(store);
    assert_eq!(hints.next().await, None);
}
