//! Taking work: as much as there is room for, waiting when there is none.

use std::sync::Arc;
use std::time::Duration;

use ff_core::contracts::{ClaimedExecution, NextArgs};
use ff_core::engine_error::{Code, EngineError};
use tokio::time::Instant;

use super::backoff::Backoff;
use super::setup::Setup;

/// How long one question may stay open.
const WAIT_MS: u64 = 30_000;

/// The next pieces of work, at most `room` of them. Returns when there are some, however long it takes, or when the server no
/// longer takes the worker's key: asking again does not help then.
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
            // An empty answer that took no time comes from something that is stopping.
            Ok(_) if start.elapsed() < Duration::from_millis(1) => backoff.pause().await,
            Ok(_) => backoff.reset(),
            Err(error) if matches!(error.code(), Code::Unauthenticated | Code::Unauthorized) => return Err(error),
            Err(error) => {
                setup.outages.noted("claim", &error);
                backoff.pause().await;
            }
        }
    }
}
