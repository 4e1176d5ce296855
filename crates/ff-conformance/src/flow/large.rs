//! The rules of a flow also hold for a large one. The engine processes it in bounded steps, and any engine may take a step.

use std::time::Duration;

use tokio::time::timeout;

use crate::prelude::*;
use crate::world::flow::complete_all;
use crate::world::graph::quorum;

pub(crate) async fn a_thousand_run_side_by_side_and_are_waited_for(world: World) {
    let flow = wide(&world, 1_000).submit().await;
    flow.start_one().await.complete(b"done").await.unwrap();
    flow.settle().await;
    let middle = flow.start().await;
    assert_eq!(middle.len(), 1_000);
    let mut middle: Vec<_> = middle.into_values().collect();
    let last = middle.pop().unwrap();
    complete_all(middle).await;
    let group = flow.group("sink").await;
    assert_eq!((group.n, group.succeeded, flow.state("sink").await), (1_000, 999, "waiting_children"));
    last.complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.node(), "sink");
    assert_eq!(flow.counts().await, [("active", 1), ("completed", 1_001)]);
}

pub(crate) async fn a_quorum_cancels_two_thousand_siblings_across_a_dead_engine(world: World) {
    let names: Vec<_> = (0..2_002).map(|nth| format!("n{nth}>z")).collect();
    let flow = world.graph(&names.join(" ")).join("z", quorum(2)).submit().await;
    let held = world.worker("hand").claim_on(flow.partition(), 40).await;
    complete_all(held[..2].to_vec()).await;
    assert_eq!(flow.state("z").await, "waiting", "it does not wait for all the others to be cancelled");
    let cancelled = async || flow.info().await.counts.of(PublicState::Cancelled);
    assert!(cancelled().await < 1_000, "a step is bounded");
    for _ in 0..3 {
        // An engine that crashes during a step has applied it or not, and the next engine continues from there.
        if let Ok(pumped) = timeout(Duration::ZERO, world.engine_store.pump(flow.partition())).await {
            pumped.unwrap();
        }
    }
    world.engine_store.pump(flow.partition()).await.unwrap();
    assert!(cancelled().await < 2_000, "there is still something to be done");
    world.check_invariants().await;
    flow.settle().await;
    assert_eq!(cancelled().await, 2_000);
    assert_refused!(held[2].complete(b"late").await, "execution_not_active");
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.counts().await, [("cancelled", 2_000), ("completed", 3)]);
    let moves = flow.events_by(limits::PAGE).await.len();
    assert_eq!(moves, 1 + 2_002 + 40 + 2 + 2_000 + 3 + 1, "each was cancelled once, and the join fired once");
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_flow_may_have_ten_thousand_nodes(world: World) {
    let graph = wide(&world, limits::FLOW_NODES - 2);
    let submitted = graph.clone().try_submit().await.unwrap();
    assert_eq!((submitted.nodes, submitted.edges, submitted.state), (10_000, 19_996, FlowState::Open));
    let flow = graph.submit().await;
    let page = world.backend.flow_members(FlowMembersArgs { flow_id: flow.id, from: 9_990, limit: 20 });
    let page = page.await.unwrap();
    assert_eq!((page.members.len(), page.next), (10, None));
    assert_eq!(flow.counts().await, [("waiting", 1), ("waiting_children", 9_999)]);
    flow.start_one().await.fail_for_good().await;
    flow.settle().await;
    assert_eq!((flow.counts().await, flow.stands().await), (vec![("failed", 1), ("skipped", 9_999)], "failed"));
    let sink = world.backend.flow_members(FlowMembersArgs { flow_id: flow.id, from: 9_999, limit: 1 });
    let group = sink.await.unwrap().members[0].group.unwrap();
    assert_eq!((group.n, group.skipped), (9_998, 9_998));
}

pub(crate) async fn a_submission_given_up_half_way_leaves_nothing_to_be_seen(world: World) {
    let graph = wide(&world, 1_000);
    interrupted(graph.clone()).await;
    is_seen(&world, &graph).await;
    let forgotten = async || loop {
        world.clock.advance(ms(limits::STAGING_MS)).await;
        // Reads the contents before the flow: a server may still finish a submission that its client abandoned.
        let count: usize = world.contents().await.iter().map(|partition| partition.executions.len()).sum();
        if count == if is_seen(&world, &graph).await { 1_002 } else { 0 } {
            return;
        }
    };
    timeout(Duration::from_secs(30), forgotten()).await.expect("what was given up is forgotten");
    let flow = graph.submit().await;
    assert_eq!(flow.counts().await, [("waiting", 1), ("waiting_children", 1_001)]);
}

pub(crate) async fn a_submission_given_up_half_way_may_be_repeated(world: World) {
    let graph = wide(&world, 1_000);
    interrupted(graph.clone()).await;
    let flow = graph.clone().submit().await;
    assert_eq!(flow.counts().await, [("waiting", 1), ("waiting_children", 1_001)]);
    assert_eq!((flow.info().await.edges, flow.flow_events().await.len()), (2_000, 1));
    assert!(graph.try_submit().await.unwrap().duplicate);
}

/// Builds a graph with one source, `middle` members below it, and a sink that waits for all of them.
fn wide(world: &World, middle: usize) -> Graph {
    let names: Vec<_> = (0..middle).map(|nth| format!("n{nth}")).collect();
    let text: Vec<_> = names.iter().map(|name| format!("top>{name}>sink")).collect();
    world.graph(&text.join(" "))
}

/// Starts a submission and abandons it after 3 ms. A fast store may finish before that.
async fn interrupted(graph: Graph) {
    if let Ok(submitted) = timeout(ms(3), graph.try_submit()).await {
        submitted.unwrap();
    }
}

/// Returns whether a flow is visible. Checks that it is complete if so, and that no execution is listed if not.
async fn is_seen(world: &World, graph: &Graph) -> bool {
    let args = ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 10 };
    let listed = world.backend.list(args).await.unwrap().executions;
    match world.backend.describe_flow(&graph.clone().args().header.flow_id).await {
        Ok(flow) => {
            assert_eq!((flow.nodes, flow.edges, flow.counts.all()), (1_002, 2_000, 1_002));
            true
        }
        answer => {
            assert_refused!(answer, "flow_not_found");
            assert_eq!(listed, [], "a member is there before its flow");
            false
        }
    }
}
