//! Flows on real servers: notifications, cost, and behaviour when keys are missing.

mod cascade;
mod fan_in;
/// These tests take too long to run on every change.
mod full {
    mod large;
}
mod logged;
mod notifications;
mod reconciled;
pub(crate) mod slow;
mod staged;

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, ClaimedExecution, CompleteArgs, EdgeSpec, FlowHeader, NodeSpec, SubmitFlowArgs};
use ff_core::flow::{PassMode, member_id};
use ff_core::partition::flow_partition;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, FlowId, InputName, Kind, NodeName};
use futures_util::future::join_all;

use crate::claim_on;

/// Longer than any of these tests, so that no lease expires where only costs are measured.
const LONG_LEASE_MS: u64 = 600_000;

fn name(text: &str) -> NodeName {
    NodeName::parse(text).unwrap()
}

fn node(text: &str) -> NodeSpec {
    NodeSpec::new(name(text), Kind::parse("work").unwrap(), Payload::json("1"))
}

fn edge(from: &str, to: &str) -> EdgeSpec {
    EdgeSpec { upstream: name(from), downstream: name(to), passes: None }
}

/// Returns an edge that passes the upstream's result on under the upstream's name.
fn passing(from: &str, to: &str) -> EdgeSpec {
    EdgeSpec { passes: Some(PassMode::Input(InputName::parse(from).unwrap())), ..edge(from, to) }
}

/// Returns a flow of nodes without edges.
fn flow<'n>(nodes: impl IntoIterator<Item = &'n str>) -> SubmitFlowArgs {
    let header = FlowHeader::new(Kind::parse("etl").unwrap());
    SubmitFlowArgs { header, nodes: nodes.into_iter().map(node).collect(), edges: vec![] }
}

fn partition_of(store: &ValkeyBackend, id: &FlowId) -> u16 {
    flow_partition(id, &store.partitions()).index
}

fn member(store: &ValkeyBackend, flow: &FlowId, node: &str) -> ExecutionId {
    member_id(flow, &name(node), &store.partitions())
}

/// Pumps a partition until nothing is due.
async fn settle(store: &ValkeyBackend, partition: u16) {
    while let Some(next) = store.pump(partition).await.unwrap().next_due {
        if next > store.now().await.unwrap() {
            break;
        }
    }
}

async fn claim_some(store: &ValkeyBackend, partition: u16, max: usize) -> Vec<ClaimedExecution> {
    let mut claimed = Vec::new();
    loop {
        let args = ClaimArgs { lease_ttl_ms: LONG_LEASE_MS, ..claim_on(partition, max - claimed.len()) };
        let more = store.claim(args).await.unwrap().claimed;
        let is_last = more.is_empty();
        claimed.extend(more);
        if is_last || claimed.len() == max {
            return claimed;
        }
    }
}

async fn complete(store: &ValkeyBackend, claimed: &ClaimedExecution, result: Option<Payload>) {
    let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
    store.complete(CompleteArgs { execution_id, fence, result }).await.unwrap();
}

/// Completes all executions at the same time, so that they share calls.
async fn complete_together(store: &ValkeyBackend, claimed: &[ClaimedExecution]) {
    join_all(claimed.iter().map(|one| complete(store, one, None))).await;
}
