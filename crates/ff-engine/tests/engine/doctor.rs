//! The doctor checks every partition and reports its findings.

use std::time::Duration;

use ff_core::backend::Perform;
use ff_engine::examine;

use crate::support::{let_pass, store, work};

#[tokio::test(start_paused = true)]
async fn a_healthy_store_is_examined_whole_and_found_healthy() {
    let store = store(16);
    for _ in 0..100 {
        store.submit(work("resize")).await.unwrap();
    }
    let_pass(Duration::from_millis(5)).await;
    let mut visited = Vec::new();
    let examined = examine(&*store, |partition, findings| visited.push((partition, findings.len()))).await.unwrap();
    assert_eq!((examined.partitions, examined.executions), (16, 100));
    assert_eq!(examined.findings, []);
    assert_eq!(visited, (0..16).map(|partition| (partition, 0)).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_read_is_not_called_healthy() {
    let store = store(16);
    store.set_down(true);
    assert!(examine(&*store, |_, _| {}).await.is_err());
}
