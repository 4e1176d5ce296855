//! Flows in a database: one program submits them, another works through them, and steps stay bounded.

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, ClaimedExecution, CompleteArgs, EdgeSpec, FlowHeader, NodeSpec, SubmitFlowArgs};
use ff_core::flow::{FlowState, member_id};
use ff_core::limits;
use ff_core::partition::flow_partition;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, Kind, NodeName};
use ff_engine::Orchestration;
use uuid::Uuid;

use crate::{StoreLocation, claim_on, findings};

fn name(n: usize) -> NodeName {
    NodeName::parse(&format!("n{n}")).unwrap()
}

fn graph(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> SubmitFlowArgs {
    let node = |n| NodeSpec::new(name(n), Kind::parse("work").unwrap(), Payload::json("1"));
    let edge = |(from, to)| EdgeSpec { upstream: name(from), downstream: name(to), passes: None };
    SubmitFlowArgs {
        header: FlowHeader::new(Kind::parse("etl").unwrap()),
        nodes: (0..nodes).map(node).collect(),
        edges: edges.into_iter().map(edge).collect(),
    }
}

/// Returns a flow whose nodes follow each other.
pub(crate) fn chain(nodes: usize) -> SubmitFlowArgs {
    graph(nodes, (1..nodes).map(|n| (n - 1, n)))
}

/// Returns a flow with one node that all others wait for.
pub(crate) fn fan_out(width: usize) -> SubmitFlowArgs {
    graph(width + 1, (1..=width).map(|n| (0, n)))
}

pub(crate) fn member(store: &PostgresBackend, id: &FlowId, n: usize) -> ExecutionId {
    member_id(id, &name(n), &store.partitions())
}

pub(crate) async fn claim(store: &PostgresBackend, id: &FlowId, max: usize) -> Vec<ClaimedExecution> {
    let on_partition = ExecutionId::new(flow_partition(id, &store.partitions()).index, Uuid::nil());
    store.claim(ClaimArgs { max, ..claim_on(&on_partition) }).await.unwrap().claimed
}

pub(crate) async fn complete(store: &PostgresBackend, claimed: &ClaimedExecution) {
    let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
    store.complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
}

/// Pumps until nothing is pending, and returns the number of steps.
pub(crate) async fn drain(store: &PostgresBackend, id: &FlowId) -> usize {
    let partition = flow_partition(id, &store.partitions()).index;
    let mut steps = 0;
    while store.pump(partition).await.unwrap().fired > 0 {
        steps += 1;
    }
    steps
}

/// Works until there is nothing left to do.
pub(crate) async fn run(store: &PostgresBackend, id: &FlowId) {
    loop {
        drain(store, id).await;
        let claimed = claim(store, id, 100).await;
        if claimed.is_empty() {
            return;
        }
        for one in claimed {
            complete(store, &one).await;
        }
    }
}

/// Returns the number of members of a flow in a state.
pub(crate) async fn count(store: &PostgresBackend, id: &FlowId, state: PublicState) -> usize {
    store.describe_flow(id).await.unwrap().counts.of(state) as usize
}

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
