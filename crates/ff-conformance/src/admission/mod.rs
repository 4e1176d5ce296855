//! Conformance tests for admission: the reasons why ready executions do not run.

pub(crate) mod blocking;
pub(crate) mod debouncing;
pub(crate) mod explaining;
pub(crate) mod holding;
pub(crate) mod routing;
pub(crate) mod singleton;

use crate::prelude::*;

/// Returns the public state, the eligibility state and the blocking reason of an execution, as names.
pub(crate) async fn words(world: &World, id: &ExecutionId) -> [&'static str; 3] {
    let state = world.describe(id).await.state;
    [state.public_state.as_str(), state.eligibility_state.as_str(), state.blocking_reason.as_str()]
}

/// Returns whether a worker that takes every kind gets nothing on the default lane.
pub(crate) async fn nothing_to_claim(world: &World) -> bool {
    world.worker("idle").claim_up_to(1).await.is_empty()
}
