//! An invalid graph is refused as a whole with the reason, and nothing is written.

use crate::prelude::*;
use crate::world::graph::{any_of, edge, grown, input, node, quorum};

pub(crate) async fn a_cycle_is_refused_by_one_of_its_edges(world: World) {
    let refusal = assert_refused!(submit(&world, world.graph("x>a>b>c>a c>y")).await, "cycle_detected");
    let field = refusal.field.unwrap();
    assert!(["edges.a->b", "edges.b->c", "edges.c->a"].contains(&field.as_str()), "{field}");
}

pub(crate) async fn an_edge_from_a_node_to_itself_is_refused(world: World) {
    assert_refused!(submit(&world, world.graph("a>b b>b")).await, "self_referencing_edge", "edges.b->b");
}

pub(crate) async fn an_edge_to_a_node_that_is_not_there_is_refused(world: World) {
    for (from, to) in [("a", "absent"), ("absent", "a")] {
        let mut args = world.graph("a>b").args();
        args.edges.push(edge(from, to));
        let (answer, field) = (submit_args(&world, args).await, format!("edges.{from}->{to}"));
        let refusal = assert_refused!(answer, "execution_not_in_flow", field);
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("absent")), "{refusal:?}");
    }
}

pub(crate) async fn the_same_edge_twice_is_refused(world: World) {
    assert_refused!(submit(&world, world.graph("a>b b>c a>b")).await, "dependency_already_exists", "edges.a->b");
}

pub(crate) async fn the_same_node_twice_is_refused(world: World) {
    let mut args = world.graph("a>b").args();
    args.nodes.push(node("a"));
    assert_refused!(submit_args(&world, args).await, "execution_already_in_flow", "nodes.a");
}

pub(crate) async fn a_flow_without_nodes_is_refused(world: World) {
    assert_refused!(submit(&world, world.graph("")).await, "invalid_input", "nodes");
}

pub(crate) async fn a_join_that_asks_for_more_than_there_is_is_refused(world: World) {
    let graph = || world.graph("a>c b>c");
    assert_refused!(submit(&world, graph().join("c", quorum(3))).await, "invalid_input", "nodes.c.join");
    assert_refused!(submit(&world, graph().join("c", quorum(0))).await, "invalid_input", "nodes.c.join");
    assert_refused!(submit(&world, graph().join("a", any_of())).await, "invalid_input", "nodes.a.join");
    graph().join("c", quorum(2)).submit().await;
}

pub(crate) async fn two_inputs_of_one_name_are_refused(world: World) {
    let graph = world.graph("a>c b>c").passing("a", "c", input("rows")).passing("b", "c", input("rows"));
    assert_refused!(submit(&world, graph).await, "invalid_input", "edges.b->c");
    let apart = world.graph("a>c b>d").passing("a", "c", input("rows")).passing("b", "d", input("rows"));
    apart.submit().await;
}

pub(crate) async fn two_edges_that_pass_the_payload_into_one_node_are_refused(world: World) {
    let payload = || Some(PassMode::Payload);
    let graph = || world.graph("a>c b>c").passing("a", "c", payload()).passing("b", "c", payload());
    for graph in [graph(), graph().join("c", any_of())] {
        let refusal = assert_refused!(submit(&world, graph).await, "invalid_input", "edges.b->c");
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("{input: NAME}")), "{refusal:?}");
    }
    let flow = world.graph("a b c").submit().await;
    let edges = ["a", "b"].map(|from| EdgeAddition { passes: payload(), ..grown(from, "c") }).into();
    let growth = GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) };
    let grown = world.writes_nothing(world.backend.grow_flow(growth)).await;
    assert_refused!(grown, "invalid_input", "edges.b->c");
    world.graph("a>c b>c").passing("a", "c", payload()).passing("b", "c", input("rows")).submit().await;
}

pub(crate) async fn a_second_payload_into_a_node_is_refused_in_a_later_change_and_by_id(world: World) {
    let passing = |from, to| EdgeAddition { passes: Some(PassMode::Payload), ..grown(from, to) };
    let flow = world.graph("a>c b x>y z").passing("a", "c", Some(PassMode::Payload)).submit().await;
    let growth = |edges| GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) };
    let by_id = |from, to| EdgeAddition { downstream: MemberRef::Execution(flow.member(to)), ..passing(from, to) };
    let [c, y] = ["c", "y"].map(|name| flow.member(name));
    for (edges, field) in [
        (vec![passing("b", "c")], "edges.b->c".to_owned()),
        (vec![by_id("b", "c")], format!("edges.b->{c}")),
        (vec![passing("z", "y"), by_id("b", "y")], format!("edges.b->{y}")),
        (vec![by_id("z", "y"), passing("b", "y")], "edges.b->y".to_owned()),
    ] {
        let grown = world.writes_nothing(world.backend.grow_flow(growth(edges))).await;
        let refusal = assert_refused!(grown, "invalid_input", field);
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("{input: NAME}")), "{refusal:?}");
    }
    world.backend.grow_flow(growth(vec![passing("z", "y")])).await.unwrap();
    let again = world.backend.grow_flow(growth(vec![passing("b", "y")])).await;
    assert_refused!(again, "invalid_input", "edges.b->y");
}

pub(crate) async fn a_node_over_a_limit_is_refused_by_its_name(world: World) {
    let with = |change: fn(&mut NodeSpec)| world.graph("a>b").with("b", change);
    let large = with(|node| node.payload = Payload::bytes(vec![7; limits::PAYLOAD_BYTES + 1]));
    assert_refused!(submit(&world, large).await, "payload_too_large", "nodes.b.payload");
    let tagged = with(|node| {
        let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
        node.tags = (0..=limits::TAGS).map(tag).collect();
    });
    assert_refused!(submit(&world, tagged).await, "limit_exceeded", "nodes.b.tags", 32, 33);
}

pub(crate) async fn a_flow_has_at_most_ten_thousand_nodes(world: World) {
    let mut args = world.graph("").args();
    args.nodes = (0..=limits::FLOW_NODES).map(|nth| node(&format!("n{nth}"))).collect();
    assert_refused!(submit_args(&world, args).await, "limit_exceeded", "nodes", 10_000, 10_001);
}

pub(crate) async fn a_flow_has_at_most_fifty_thousand_edges(world: World) {
    let (uppers, lowers) = (250, 201);
    let names = (0..uppers).map(|nth| format!("u{nth}")).chain((0..lowers).map(|nth| format!("l{nth}")));
    let mut args = world.graph("").args();
    args.nodes = names.map(|name| node(&name)).collect();
    let pairs = (0..uppers).flat_map(|upper| (0..lowers).map(move |lower| (upper, lower)));
    let pairs = pairs.take(limits::FLOW_EDGES + 1);
    args.edges = pairs.map(|(upper, lower)| edge(&format!("u{upper}"), &format!("l{lower}"))).collect();
    assert_refused!(submit_args(&world, args).await, "limit_exceeded", "edges", 50_000, 50_001);
}

pub(crate) async fn the_payloads_of_a_flow_have_at_most_sixteen_mebibytes(world: World) {
    let mebibyte = Payload::bytes(vec![7; limits::PAYLOAD_BYTES]);
    let mut args = world.graph("").args();
    args.nodes = (0..17).map(|nth| NodeSpec { payload: mebibyte.clone(), ..node(&format!("n{nth}")) }).collect();
    assert_refused!(submit_args(&world, args.clone()).await, "payload_too_large");
    args.nodes.pop();
    let submitted = world.backend.submit_flow(args).await.unwrap();
    assert_eq!(submitted.nodes, 16);
}

pub(crate) async fn a_flow_may_have_thirty_two_tags(world: World) {
    let tagged = |count| {
        let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
        let mut args = world.graph("a").args();
        args.header.tags = (0..count).map(tag).collect();
        args
    };
    assert_refused!(submit_args(&world, tagged(33)).await, "limit_exceeded", "tags", 32, 33);
    let flow_id = world.backend.submit_flow(tagged(32)).await.unwrap().flow_id;
    assert_eq!(world.backend.describe_flow(&flow_id).await.unwrap().tags.len(), 32);
}

pub(crate) async fn a_refused_flow_can_be_submitted_once_it_is_corrected(world: World) {
    let mut args = world.graph("a>b>c").args();
    args.edges.push(EdgeSpec { passes: Some(PassMode::Payload), ..edge("c", "a") });
    assert_refused!(submit_args(&world, args.clone()).await, "cycle_detected");
    args.edges.pop();
    assert!(!world.backend.submit_flow(args).await.unwrap().duplicate);
}

/// Submits a graph, and checks that nothing is written.
async fn submit(world: &World, graph: Graph) -> Answer<SubmittedFlow> {
    submit_args(world, graph.args()).await
}

async fn submit_args(world: &World, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
    world.writes_nothing(world.backend.submit_flow(args)).await
}
