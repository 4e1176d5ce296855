//! Letting go until children have ended.

use std::time::Duration;

use ff_core::contracts::{WaitForChildrenArgs, WaitedForChildren};
use ff_core::engine_error::EngineError;
use ff_core::flow::GroupState;
use tokio::time::Instant;

use crate::Context;
use crate::worker::WaitError;
use crate::worker::claiming::Backoff;

/// Returns when the children an execution added have ended as its join asks, or can no longer. Otherwise the lease is given
/// up and the run of the handler ends here.
pub(super) async fn wait(context: &Context) -> Result<(), WaitError> {
    // One wait at a time, as with suspensions.
    let _turn = context.hold().turn.lock().await;
    let own = context.clone();
    // Seen through even when nobody waits for the answer any more: a handler must not go on without its lease.
    let letting_go = tokio::spawn(async move { let_go(&own).await });
    match letting_go.await.unwrap_or(Err(WaitError::Suspended))?.state {
        GroupState::Satisfied | GroupState::Impossible => Ok(()),
        GroupState::Pending => {
            context.hold().dropped.cancelled().await;
            Err(WaitError::Suspended)
        }
    }
}

/// Asks to wait, again while nobody answers and the lease may still be ours.
async fn let_go(context: &Context) -> Result<WaitedForChildren, WaitError> {
    let task = context.task();
    let args = WaitForChildrenArgs { execution_id: task.execution_id, fence: task.fence };
    let give_up = Instant::now() + Duration::from_millis(task.lease_ttl_ms);
    let mut backoff = Backoff::default();
    loop {
        // A renewal that crossed this would be told that the work is no longer ours.
        let quiet = context.hold().lease.clone().lock_owned().await;
        match context.backend().wait_for_children(args.clone()).await {
            Ok(waited) => {
                if waited.state == GroupState::Pending {
                    context.hold().suspended.cancel();
                }
                return Ok(waited);
            }
            Err(EngineError::Refused(refusal)) => return Err(EngineError::Refused(refusal).into()),
            Err(error) if Instant::now() >= give_up => return Err(error.into()),
            Err(error) => {
                context.outages().noted("wait_for_children", &error);
                drop(quiet);
                backoff.pause().await;
            }
        }
    }
}
