//! Helpers for tests of flows.

use ff_backend_sql::{Driver, SqlStore};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, ClaimedExecution, CompleteArgs, EdgeSpec, FlowHeader, NodeSpec, SubmitFlowArgs};
use ff_core::flow::member_id;
use ff_core::partition::flow_partition;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, Kind, NodeName};
use uuid::Uuid;

use super::claim_on;

fn name(n: usize) -> NodeName {
    NodeName::parse(&format!("n{n}")).unwrap()
}

/// Returns a flow with this number of nodes, and edges between them.
pub(crate) fn graph(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> SubmitFlowArgs {
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

pub(crate) fn partition_of(store: &SqlStore<impl Driver>, id: &FlowId) -> u16 {
    flow_partition(id, &store.partitions()).index
}

pub(crate) fn member(store: &SqlStore<impl Driver>, id: &FlowId, n: usize) -> ExecutionId {
    member_id(id, &name(n), &store.partitions())
}

pub(crate) async fn claim(store: &SqlStore<impl Driver>, id: &FlowId, max: usize) -> Vec<ClaimedExecution> {
    let on_partition = ExecutionId::new(partition_of(store, id), Uuid::nil());
    store.claim(ClaimArgs { max, ..claim_on(&on_partition) }).await.unwrap().claimed
}

pub(crate) async fn complete(store: &SqlStore<impl Driver>, claimed: &ClaimedExecution) {
    let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
    store.complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
}

/// Pumps until nothing is pending, and returns the number of steps.
pub(crate) async fn drain(store: &SqlStore<impl Driver>, id: &FlowId) -> usize {
    let partition = partition_of(store, id);
    let mut steps = 0;
    while store.pump(partition).await.unwrap().fired > 0 {
        steps += 1;
    }
    steps
}

/// Works until there is nothing left to do.
pub(crate) async fn run(store: &SqlStore<impl Driver>, id: &FlowId) {
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
pub(crate) async fn count(store: &SqlStore<impl Driver>, id: &FlowId, state: PublicState) -> usize {
    store.describe_flow(id).await.unwrap().counts.of(state) as usize
}
