//! Promises about admission: the reasons why ready executions do not run.

pub(crate) mod blocking;
pub(crate) mod debouncing;
pub(crate) mod explaining;
pub(crate) mod holding;
pub(crate) mod routing;
pub(crate) mod singleton;

use crate::prelude::*;

/// The three words of a state that describe why an execution waits.
pub(crate) async fn words(world: &World, id: &ExecutionId) -> [&'static str; 3] {
    let state = world.describe(id).await.state;
    [state.public_state.as_str(), state.eligibility_state.as_str(), state.blocking_reason.as_str()]
}

/// Whether a worker of any kind gets nothing on the default lane.
pub(crate) async fn nothing_to_claim(world: &World) -> bool {
    world.worker("idle").claim_up_to(1).await.is_empty()
}
