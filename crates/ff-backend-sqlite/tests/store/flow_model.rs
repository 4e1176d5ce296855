//! The same script of flows on the model and on the store: equal replies, equal contents.

use ff_core::backend::Perform;
use ff_core::contracts::{
    CancelArgs, CancelFlowArgs, CloseFlowArgs, CompleteArgs, CreateFlowArgs, FailArgs, FlowHeader, GrowFlowArgs,
    GrownEdge, MemberRef, NodeSpec, ReplayArgs, SetFlowTagsArgs, StagedFlow, SubmitFlowArgs, Task, WaitForChildrenArgs,
};
use ff_core::execution::Failure;
use ff_core::flow::{CancelPolicy, GroupState, Join, OnSatisfied, Passing};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, FlowId, IdempotencyKey, InputName, Kind, NodeName, TagKey, TagValue};
use ff_engine::Orchestration;
use uuid::Uuid;

use crate::flows::{edge, graph, name};
use crate::pair::{Pair, both};
use crate::{Place, claim_on};

impl Pair {
    /// Submits a graph to both.
    async fn flow(&mut self, args: SubmitFlowArgs) -> FlowId {
        let answer = self.store.submit_flow(args.clone()).await.unwrap();
        for part in args.plan().unwrap() {
            if let StagedFlow::Submitted(submitted) = self.model(part).unwrap() {
                assert_eq!(answer, submitted);
            }
        }
        self.compare().await;
        answer.flow_id
    }

    async fn work(&mut self, max: usize) -> Vec<Task> {
        let somebody = ExecutionId::new(0, Uuid::nil());
        self.claim(ff_core::contracts::ClaimArgs { max, ..claim_on(&somebody) }).await
    }

    async fn finish(&mut self, task: &Task, result: Option<Payload>) {
        let (execution_id, fence) = (task.execution_id, task.fence);
        both!(self.complete(CompleteArgs { execution_id, fence, result })).unwrap();
    }

    async fn spoil(&mut self, task: &Task) {
        let (execution_id, fence) = (task.execution_id, task.fence);
        let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: true };
        both!(self.fail(FailArgs { execution_id, fence, failure })).unwrap();
    }
}

fn node_of(task: &Task) -> &NodeName {
    &task.flow.as_ref().unwrap().node
}

fn new_node(text: &str) -> NodeSpec {
    NodeSpec::new(NodeName::parse(text).unwrap(), Kind::parse("work").unwrap(), Payload::json("1"))
}

fn named(text: &str) -> MemberRef {
    MemberRef::Node(NodeName::parse(text).unwrap())
}

#[tokio::test]
async fn joins_inputs_failures_and_replays_have_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    let mut args = graph(6, [edge(0, 2), edge(1, 2), edge(0, 3), edge(3, 4), edge(2, 5), edge(4, 5)]);
    args.nodes[2].join = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
    args.edges[0].passes = Some(Passing::Payload);
    args.edges[2].passes = Some(Passing::Input(InputName::parse("first").unwrap()));
    args.edges[4].passes = Some(Passing::Input(InputName::parse("second").unwrap()));
    pair.flow(args).await;

    let roots = pair.work(2).await;
    let root = |n| roots.iter().find(|task| *node_of(task) == name(n)).unwrap();
    pair.finish(root(0), Some(Payload::bytes(vec![0, 255]))).await;
    let children = pair.work(2).await;
    let child = |n| children.iter().find(|task| *node_of(task) == name(n)).unwrap();
    pair.finish(child(2), Some(Payload::json("2"))).await;
    pair.spoil(child(3)).await;

    let replay =
        |task: &Task, reopen_downstream| ReplayArgs { reopen_downstream, ..ReplayArgs::new(task.execution_id) };
    both!(pair.replay(replay(child(3), true))).unwrap();
    let again = pair.work(2).await;
    pair.finish(&again[0], Some(Payload::json("3"))).await;
    let next = pair.work(2).await;
    pair.finish(&next[0], None).await;
    let last = pair.work(2).await;
    pair.finish(&last[0], None).await;
    both!(pair.replay(replay(root(0), false))).unwrap();
    pair.pump().await;
}

#[tokio::test]
async fn a_flow_that_grows_and_waits_for_its_children_has_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    let header = FlowHeader::new(Kind::parse("etl").unwrap());
    let flow_id = header.flow_id;
    both!(pair.create_flow(CreateFlowArgs { header: header.clone() })).unwrap();
    assert!(both!(pair.create_flow(CreateFlowArgs { header })).unwrap().duplicate);
    let onto = |upstream, downstream| GrownEdge { upstream, downstream, passes: None };
    let grown = GrowFlowArgs {
        nodes: vec![new_node("a"), new_node("b")],
        edges: vec![onto(named("a"), named("b"))],
        idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
        ..GrowFlowArgs::new(flow_id)
    };
    let first = both!(pair.grow_flow(grown.clone())).unwrap();
    assert_eq!(both!(pair.grow_flow(grown)).unwrap(), first);
    let cycle = GrowFlowArgs { edges: vec![onto(named("b"), named("a"))], ..GrowFlowArgs::new(flow_id) };
    both!(pair.grow_flow(cycle)).unwrap_err();

    let parent = pair.work(1).await.remove(0);
    let holder = (parent.execution_id, parent.fence);
    let children = GrowFlowArgs {
        nodes: vec![new_node("c"), new_node("d")],
        edges: ["c", "d"].map(|child| onto(named(child), MemberRef::Execution(holder.0))).into(),
        holder: Some(holder),
        ..GrowFlowArgs::new(flow_id)
    };
    both!(pair.grow_flow(children)).unwrap();
    let wait = WaitForChildrenArgs { execution_id: holder.0, fence: holder.1 };
    assert_eq!(both!(pair.wait_for_children(wait.clone())).unwrap().state, GroupState::Pending);
    for child in pair.work(2).await {
        pair.finish(&child, None).await;
    }
    let parent = pair.work(1).await.remove(0);
    assert_eq!(parent.execution_id, holder.0);
    pair.finish(&parent, None).await;
    let tag = (TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap());
    both!(pair.set_flow_tags(SetFlowTagsArgs { flow_id, tags: [tag].into() })).unwrap();
    both!(pair.close_flow(CloseFlowArgs { flow_id })).unwrap();
    let last = pair.work(1).await.remove(0);
    pair.finish(&last, None).await;
    both!(pair.grow_flow(GrowFlowArgs { nodes: vec![new_node("e")], ..GrowFlowArgs::new(flow_id) })).unwrap_err();
}

#[tokio::test]
async fn a_large_flow_that_is_opened_and_cancelled_step_by_step_has_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    let flow_id = pair.flow(graph(420, (1..210).flat_map(|n| [edge(0, n), edge(n, n + 209)]))).await;
    let mut opened = pair.work(1).await;
    while opened.is_empty() {
        pair.pump().await;
        opened = pair.work(1).await;
    }
    let root = opened.remove(0);
    pair.pump().await;
    pair.finish(&root, None).await;
    both!(pair.cancel(CancelArgs { execution_id: root.execution_id, reason: None, requested_by: None })).unwrap_err();
    let policy = CancelPolicy::CancelPending;
    both!(pair.cancel_flow(CancelFlowArgs { flow_id, policy, reason: None, requested_by: None })).unwrap();
    assert!(pair.work(3).await.is_empty(), "what a cancelled flow does not spare starts no more");
    while pair.store.describe_flow(&flow_id).await.unwrap().ended_at.is_none() {
        pair.pump().await;
    }
}
