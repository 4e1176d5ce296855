//! Flows whose server is killed during their pending work.

use ff_core::contracts::{
    CancelFlowArgs, CompleteArgs, EdgeSpec, FlowEnd, FlowHeader, FlowInfo, NextArgs, NodeSpec, SubmitFlowArgs,
};
use ff_core::flow::{CancelPolicy, FlowState, Join, OnSatisfied};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{FlowId, Kind, NodeName};
use ff_sdk::FlowFabric;
use ff_testing::processes::{ServerProcess, within};

use super::stop_and_examine;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_cancellation_continues_after_the_server_was_killed() {
    let mut server = ServerProcess::start().await;
    let flowfabric = server.connect().await;
    let flow_id = submit(&flowfabric, Shape { top: false, middle: 3_000, sink: None }).await;
    let args = CancelFlowArgs { flow_id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
    let cancelled = flowfabric.backend().cancel_flow(args).await.unwrap();
    assert!(cancelled.scheduled > 0, "all of it was done at once: {cancelled:?}");
    server.kill_and_start_again().await;
    let end = ended(&server.connect().await, flow_id).await;
    assert_eq!((end.state, end.counts.of(PublicState::Cancelled)), (FlowState::Cancelled, 3_000));
    assert_eq!(stop_and_examine(vec![server]).await, 3_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fan_out_continues_after_the_server_was_killed() {
    let mut server = ServerProcess::start().await;
    let flowfabric = server.connect().await;
    let flow_id = submit(&flowfabric, Shape { top: true, middle: 1_000, sink: Some(Join::AllOf) }).await;
    assert_eq!(work(&flowfabric, 1).await, 1);
    server.kill_and_start_again().await;
    let flowfabric = server.connect().await;
    while describe(&flowfabric, flow_id).await.ended_at.is_none() {
        work(&flowfabric, 200).await;
    }
    let end = ended(&flowfabric, flow_id).await;
    assert_eq!((end.state, end.counts.of(PublicState::Completed)), (FlowState::Completed, 1_002));
    assert_eq!(stop_and_examine(vec![server]).await, 1_002);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sibling_is_cancelled_though_the_server_was_killed() {
    let mut server = ServerProcess::start().await;
    let flowfabric = server.connect().await;
    let any_of = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
    let flow_id = submit(&flowfabric, Shape { top: false, middle: 2_001, sink: Some(any_of) }).await;
    assert_eq!(work(&flowfabric, 1).await, 1);
    server.kill_and_start_again().await;
    let flowfabric = server.connect().await;
    within("the siblings are cancelled", async {
        while describe(&flowfabric, flow_id).await.counts.of(PublicState::Cancelled) < 2_000 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(work(&flowfabric, 10).await, 1, "nothing but the one that waited for them is left");
    let end = ended(&flowfabric, flow_id).await;
    assert_eq!((end.state, end.counts.of(PublicState::Completed)), (FlowState::Completed, 2));
    assert_eq!(stop_and_examine(vec![server]).await, 2_002);
}

/// Submits a flow: optionally a first node, the given number of middle nodes, and optionally a last node that joins
/// them.
async fn submit(flowfabric: &FlowFabric, shape: Shape) -> FlowId {
    let name = |text: &str| NodeName::parse(text).unwrap();
    let node = |text: &str| NodeSpec::new(name(text), Kind::parse("work").unwrap(), Payload::default());
    let edge = |from: &str, to: &str| EdgeSpec { upstream: name(from), downstream: name(to), passes: None };
    let middle: Vec<_> = (0..shape.middle).map(|nth| format!("n{nth}")).collect();
    let mut nodes: Vec<_> = middle.iter().map(|text| node(text)).collect();
    let mut edges = Vec::new();
    if shape.top {
        nodes.push(node("top"));
        edges.extend(middle.iter().map(|text| edge("top", text)));
    }
    if let Some(join) = shape.sink {
        nodes.push(NodeSpec { join, ..node("sink") });
        edges.extend(middle.iter().map(|text| edge(text, "sink")));
    }
    let args = SubmitFlowArgs { header: FlowHeader::new(Kind::parse("large").unwrap()), nodes, edges };
    flowfabric.backend().submit_flow(args).await.unwrap().flow_id
}

struct Shape {
    top: bool,
    middle: usize,
    sink: Option<Join>,
}

/// Claims up to `max` members and completes them. Returns their number.
async fn work(flowfabric: &FlowFabric, max: usize) -> usize {
    let args = NextArgs { max, wait_ms: 10_000, ..NextArgs::new(Holder::parse("hand", "hand-1").unwrap()) };
    let claimed = within("there is something to do", flowfabric.long_poll().next(args)).await.unwrap();
    for one in &claimed {
        let (execution_id, fence) = (one.task.execution_id, one.task.fence);
        flowfabric.backend().complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
    }
    claimed.len()
}

async fn describe(flowfabric: &FlowFabric, id: FlowId) -> FlowInfo {
    flowfabric.backend().describe_flow(&id).await.unwrap()
}

async fn ended(flowfabric: &FlowFabric, id: FlowId) -> FlowEnd {
    within("the flow ends", flowfabric.long_poll().flow_ended(&id, 60_000)).await.unwrap().expect("the flow goes on")
}
