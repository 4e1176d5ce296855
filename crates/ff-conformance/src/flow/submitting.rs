//! A graph is submitted as a whole, and its members run in the order of its edges.

use crate::prelude::*;
use crate::world::graph::node;

pub(crate) async fn a_diamond_runs_from_its_top_to_its_bottom(world: World) {
    let flow = world.graph("a>b>d a>c>d").submit().await;
    assert_eq!(flow.states("a b c d").await, ["waiting", "waiting_children", "waiting_children", "waiting_children"]);
    assert_eq!(flow.run().await, [vec!["a"], vec!["b", "c"], vec!["d"]]);
    assert_eq!(flow.stands().await, "completed");
    assert_eq!(flow.counts().await, [("completed", 4)]);
}

pub(crate) async fn a_member_waits_until_its_last_upstream_has_succeeded(world: World) {
    let flow = world.graph("a>c b>c").submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("c").await, "waiting_children");
    assert!(flow.start().await.is_empty(), "members that wait for others are not claimed");
    started["b"].complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.node(), "c");
}

pub(crate) async fn members_and_edges_may_come_in_any_order(world: World) {
    let flow = world.graph("d>e c>d b>c a>b").submit().await;
    let rounds = flow.run().await;
    assert_eq!(rounds.concat(), ["a", "b", "c", "d", "e"]);
    let order: Vec<_> = flow.members_by(2).await.iter().map(|member| member.node.to_string()).collect();
    assert_eq!(order, ["a", "b", "c", "d", "e"], "every edge goes forward");
}

pub(crate) async fn a_flow_may_have_no_edges(world: World) {
    let flow = world.graph("a b c").submit().await;
    assert_eq!(flow.info().await.edges, 0);
    assert_eq!(flow.run().await, [vec!["a", "b", "c"]]);
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_flow_may_have_one_node(world: World) {
    let submitted = world.graph("only").try_submit().await.unwrap();
    assert_eq!((submitted.nodes, submitted.edges, submitted.graph_revision), (1, 0, 1));
    assert_eq!((submitted.state, submitted.duplicate), (FlowState::Open, false));
    let held = world.worker("hand").claim().await;
    held.complete(b"done").await.unwrap();
    let ended = world.backend.describe_flow(&submitted.flow_id).await.unwrap();
    assert_eq!((ended.state, ended.ended_at), (FlowState::Completed, Some(world.clock.now())));
}

pub(crate) async fn a_member_is_work_like_any_other(world: World) {
    let tags: Tags = [(TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap())].into();
    let graph = world.graph("a>b").with("b", |node| {
        node.lane = LaneId::parse("slow").unwrap();
        node.kind = Kind::parse("load").unwrap();
        node.payload = Payload::json("{\"rows\":3}");
        node.priority = Priority::new(7).unwrap();
        node.tags = tags.clone();
        node.policy.max_replay_count = 2;
    });
    let policy = graph.clone().args().nodes[1].policy.clone();
    let flow = graph.submit().await;
    let info = world.describe(&flow.member("b")).await;
    assert_eq!((info.lane_id.as_str(), info.kind.as_str(), info.priority), ("slow", "load", Priority::new(7).unwrap()));
    assert_eq!((info.tags, info.policy, info.payload_bytes), (tags, policy, 10));
    assert_eq!((info.flow_id, info.node.unwrap().as_str()), (Some(flow.id), "b"));
    flow.start_one().await.complete(b"done").await.unwrap();
    assert!(flow.start().await.is_empty(), "it waits in its own lane");
    let held = world.worker("slow").lanes(&["slow"]).kinds(&["load"]).claim().await;
    assert_eq!(held.payload, Payload::json("{\"rows\":3}"));
    let place = held.task.flow.unwrap();
    assert_eq!((place.flow_id, place.node.as_str(), place.inputs), (flow.id, "b", 0));
}

pub(crate) async fn work_in_no_flow_knows_of_none(world: World, held: LeasedExecution) {
    assert_eq!((&held.task.flow, held.inputs.len()), (&None, 0));
    let info = world.describe(&held.id()).await;
    assert_eq!((info.flow_id, info.node), (None, None));
    let cascade = CascadeArgs { execution_id: held.id(), pending_since: None };
    assert_eq!(world.backend.cascade(cascade).await.unwrap(), CascadeStep::default());
}

pub(crate) async fn a_member_may_start_no_earlier_than_it_is_to(world: World) {
    let later = |graph: Graph| graph.with("b", |node| node.start = Start::After(5_000));
    let flow = later(world.graph("a>b c")).with("c", |node| node.start = Start::After(1_000)).submit().await;
    assert_eq!(flow.states("a b c").await, ["waiting", "waiting_children", "delayed"]);
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.state("b").await, "delayed", "its upstream is done, its time has not come");
    world.clock.advance(ms(1_000)).await;
    assert_eq!(flow.start_one().await.node(), "c");
    world.clock.advance(ms(4_000)).await;
    assert_eq!(flow.start_one().await.node(), "b");

    let flow = later(world.graph("a>b")).submit().await;
    world.clock.advance(ms(6_000)).await;
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.state("b").await, "waiting", "its time came before its upstream was done");
}

pub(crate) async fn a_flow_is_its_tenants(world: World) {
    let mut args = world.graph("a>b").args();
    args.header.namespace = Namespace::parse("acme").unwrap();
    let flow_id = world.backend.submit_flow(args).await.unwrap().flow_id;
    assert!(world.worker("stranger").claim_up_to(9).await.is_empty());
    let held = world.worker("theirs").namespace("acme").claim().await;
    assert_eq!(held.task.namespace.as_str(), "acme");
    assert_eq!(held.task.flow.as_ref().map(|place| place.flow_id), Some(flow_id));
    held.complete(b"done").await.unwrap();
    assert_eq!(world.worker("theirs").namespace("acme").claim().await.node(), "b");
}

pub(crate) async fn several_flows_do_not_know_each_other(world: World) {
    let flows = [world.graph("a>b").submit().await, world.graph("a>b").submit().await];
    assert_ne!(flows[0].member("a"), flows[1].member("a"), "one name, two members");
    let all = world.worker("hand").claim_up_to(9).await;
    let first = all.iter().find(|held| held.id() == flows[0].member("a")).unwrap();
    first.complete(b"done").await.unwrap();
    assert_eq!((flows[0].state("b").await, flows[1].state("b").await), ("waiting", "waiting_children"));
}

pub(crate) async fn a_flow_submission_has_one_opened_event(world: World) {
    let flow = world.graph("a>b").submit().await;
    assert_eq!(flow.flow_events().await, [FlowEventKind::Opened { nodes: 2, edges: 1 }]);
    assert_eq!(world.describe(&flow.member("a")).await.created_at, world.clock.now());
}

pub(crate) async fn submitting_twice_is_one_flow(world: World) {
    let graph = world.graph("a>b>c");
    let first = graph.clone().try_submit().await.unwrap();
    let before = world.contents().await;
    let again = graph.clone().try_submit().await.unwrap();
    assert_eq!((again.flow_id, again.duplicate, again.nodes), (first.flow_id, true, 3));
    let mut turned = graph.clone().args();
    turned.nodes.reverse();
    turned.edges.reverse();
    assert!(world.backend.submit_flow(turned).await.unwrap().duplicate, "the order of a graph is no part of it");
    assert_eq!(world.contents().await, before);
    let flow = graph.clone().submit().await;
    flow.run().await;
    let ended = graph.try_submit().await.unwrap();
    assert_eq!((ended.duplicate, ended.state), (true, FlowState::Completed), "as it stands now");
}

pub(crate) async fn an_id_stands_for_one_graph(world: World) {
    let graph = world.graph("a>b");
    graph.clone().submit().await;
    let id = graph.args().header.flow_id;
    let before = world.contents().await;
    let mut others = vec![world.graph("a>b>c").id(id), world.graph("a b").id(id)];
    others.push(world.graph("a>b").id(id).with("a", |node| node.payload = Payload::bytes(b"other".to_vec())));
    for other in others {
        assert_refused!(other.try_submit().await, "idempotency_conflict", "flow_id");
    }
    assert_eq!(world.contents().await, before);
}

/// Any caller can compute the id that derives from a key. A caller that uses the id without the key gets the same refusal whether
/// the flow exists or not, and cannot take the id first.
pub(crate) async fn a_caller_without_the_key_cannot_use_an_id_derived_from_it(world: World) {
    let mut owned = world.graph("a>b").args();
    owned.header.namespace = Namespace::parse("acme").unwrap();
    owned.header = owned.header.keyed(IdempotencyKey::parse("nightly").unwrap());
    let flow_id = owned.header.flow_id;
    let member = member_id(&flow_id, &NodeName::parse("a").unwrap(), &world.engine_store.partitions());
    let before = world.contents().await;
    for owner in ["first", "second"] {
        let whole = world.graph("x").id(flow_id).try_submit().await;
        let whole = assert_refused!(whole, "invalid_input");
        let kind = Kind::parse("etl").unwrap();
        let header = FlowHeader { flow_id, ..FlowHeader::new(kind.clone()) };
        let open = assert_refused!(world.backend.create_flow(CreateFlowArgs { header }).await, "invalid_input");
        assert_eq!((whole.field.as_deref(), &open), (Some("flow_id"), &whole));
        let work = SubmitArgs { uuid: member.uuid(), ..SubmitArgs::new(kind, Payload::default()) };
        let work = assert_refused!(world.backend.submit(work).await, "invalid_input");
        assert_eq!(work.field.as_deref(), Some("uuid"));
        if owner == "first" {
            assert_eq!(world.contents().await, before);
        }
        let submitted = world.backend.submit_flow(owned.clone()).await.unwrap();
        assert_eq!((submitted.flow_id, submitted.duplicate), (flow_id, owner == "second"));
    }
    assert_eq!(world.describe(&member).await.namespace.as_str(), "acme");
}

pub(crate) async fn a_large_flow_is_opened_by_the_engine_and_is_there_before(world: World) {
    let id = FlowId::new();
    let mut args = world.graph("").id(id).args();
    args.nodes = (0..450).map(|nth| node(&format!("n{nth}"))).collect();
    world.backend.submit_flow(args).await.unwrap();
    let info = world.backend.describe_flow(&id).await.unwrap();
    assert_eq!((info.state, info.nodes, info.counts.live()), (FlowState::Open, 450, 450));
    world.clock.fire_due().await;
    assert_eq!(world.worker("hand").claim_up_to(1_000).await.len(), 450);
}
