//! What most tests begin with: a store in memory, and workers that stop.

use std::future::Future;
use std::time::Duration;

use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Error, FlowFabric, Job, Worker};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Connects to a store in memory, with an engine.
pub(crate) async fn fabric() -> FlowFabric {
    ff_sdk::connect("memory:").await.unwrap()
}

/// Runs a worker until the returned sender sends or is dropped.
pub(crate) fn start(worker: Worker) -> (oneshot::Sender<()>, JoinHandle<Result<(), Error>>) {
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(worker.run_until(async move {
        let _ = stopped.await;
    }));
    (stop, running)
}

pub(crate) async fn submit(ff: &FlowFabric, job: Job) -> ExecutionId {
    ff.client().submit(job).await.unwrap().execution_id
}

/// Awaits a future with a time limit, so that a test fails instead of hanging.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it did not happen within twenty seconds")
}
