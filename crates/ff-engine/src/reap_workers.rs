//! Removes worker instances that stopped without leaving.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::EngineStore;
use ff_core::limits;
use tokio::time::{MissedTickBehavior, interval};

use crate::orchestration::Orchestration;

/// Runs while it is polled. A worker that is gone is not listed even before it is removed, so no caller waits for this.
pub(crate) async fn reap_workers(store: Arc<dyn EngineStore>) {
    let mut turn = interval(Duration::from_millis(limits::WORKER_TTL_MS));
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turn.tick().await;
        match store.sweep_workers().await {
            Ok(gone) if gone.is_empty() => {}
            Ok(gone) => tracing::info!(workers = gone.len(), "removed workers that stopped without leaving"),
            Err(error) => store.outages().log_failure("worker sweep", &error),
        }
    }
}
