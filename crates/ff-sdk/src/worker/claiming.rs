//! Claiming executions: as many as the worker has room for. The claim waits while no work is ready.

use std::sync::Arc;
use std::time::Duration;

use ff_core::contracts::{ClaimedExecution, NextArgs};
use ff_core::engine_error::{Code, EngineError};
use tokio::time::Instant;

use super::backoff::Backoff;
use super::setup::Setup;

/// Maximum waiting time of one long poll.
const WAIT_MS: u64 = 30_000;

/// Claims the next executions, at most `room`. Waits for them without a time limit. Returns an error only when the
/// server no longer accepts the API key, because another claim would fail in the same way.
pub(super) async fn next(setup: Arc<Setup>, room: usize) -> Result<Vec<ClaimedExecution>, EngineError> {
    let mut backoff = Backoff::default();
    loop {
        let start = Instant::now();
        let args = NextArgs {
            namespace: setup.namespace.clone(),
            lanes: setup.lanes.clone(),
            kinds: setup.kinds.clone(),
            capabilities: setup.capabilities.clone(),
            max: room,
            holder: setup.holder.clone(),
            lease_ttl_ms: setup.lease_ttl_ms,
            wait_ms: WAIT_MS,
        };
        match setup.long_poll.next(args).await {
            Ok(claimed) if !claimed.is_empty() => return Ok(claimed),
            // An empty answer that took no time comes from a server or engine that is stopping.
            Ok(_) if start.elapsed() < Duration::from_millis(1) => backoff.pause().await,
            Ok(_) => backoff.reset(),
            Err(error) if matches!(error.code(), Code::Unauthenticated | Code::Unauthorized) => return Err(error),
            Err(error) => {
                setup.outages.log_failure("claim", &error);
                backoff.pause().await;
            }
        }
    }
}
