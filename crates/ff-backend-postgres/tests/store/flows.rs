//! Flows in a database: one program submits them, another works through them, and steps stay bounded.

use ff_core::backend::Perform;
use ff_core::flow::FlowState;
use ff_core::limits;
use ff_core::state::PublicState;
use ff_engine::Orchestration;

use crate::shared::flow::{chain, claim, complete, count, drain, fan_out};
use crate::{StoreLocation, findings};

#[tokio::test]
async fn programs_work_through_a_flow_in_turns() {
    let place = StoreLocation::new();
    let stores = [place.open().await, place.open().await];
    let id = stores[0].submit_flow(chain(9)).await.unwrap().flow_id;
    for store in stores.iter().cycle().take(9) {
        let claimed = claim(store, &id, 9).await;
        assert_eq!(claimed.len(), 1);
        complete(store, &claimed[0]).await;
    }
    let info = stores[1].describe_flow(&id).await.unwrap();
    assert_eq!((info.state, info.nodes, info.edges), (FlowState::Completed, 9, 8));
    assert_eq!(findings(&stores[0]).await, []);
}

/// Each step of a wide flow notifies a bounded number of dependents in a bounded number of statements, because rows are written
/// together.
#[tokio::test]
async fn a_thousand_dependents_are_released_in_bounded_steps() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let id = store.submit_flow(fan_out(1_000)).await.unwrap().flow_id;
    drain(&store, &id).await;
    let root = claim(&store, &id, 1).await.remove(0);
    let before = store.statements();
    complete(&store, &root).await;
    assert_eq!(count(&store, &id, PublicState::Waiting).await, limits::FLOW_STEP);
    let steps = 1 + drain(&store, &id).await;
    assert!(steps >= 1_000 / limits::FLOW_STEP, "{steps} steps");
    assert_eq!(count(&store, &id, PublicState::Waiting).await, 1_000);
    let statements = store.statements() - before;
    assert!(statements < 20 * steps as u64, "{statements} statements in {steps} steps");
}
