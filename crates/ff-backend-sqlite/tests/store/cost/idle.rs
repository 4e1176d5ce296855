//! A store without calls does nothing.

use std::time::Duration;

use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{Start, SubmitArgs};
use futures_util::StreamExt;

use crate::{StoreLocation, work};

#[tokio::test]
async fn an_idle_store_runs_no_statement() {
    let place = StoreLocation::new();
    let store = place.open();
    store.submit(SubmitArgs { start: Start::After(5), ..work() }).await.unwrap();
    let before = store.statements();
    assert!(before > 0, "what it runs is counted");
    let mut hints = store.hints();
    let hint = tokio::time::timeout(Duration::from_millis(200), hints.next()).await;
    assert!(hint.is_err(), "nothing happened, so there is no hint");
    assert_eq!(store.statements(), before, "even though something has become due: that is for an engine to know");
    assert_eq!(store.sweep_every(), None);
}
