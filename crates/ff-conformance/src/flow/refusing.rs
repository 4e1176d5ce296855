//! An invalid graph is refused as a whole with the reason, and nothing is written.

use crate::prelude::*;
use crate::world::graph::{any_of, edge, grown, input, node, quorum};

pub(crate) async fn a_cycle_is_refused_by_one_of_its_edges(world: World) {
    let refusal = refused(&world, world.graph("x>a>b>c>a c>y"), "cycle_detected").await;
    let field = refusal.field.unwrap();
    assert!(["edges.a->b", "edges.b->c", "edges.c->a"].contains(&field.as_str()), "{field}");
}

pub(crate) async fn an_edge_from_a_node_to_itself_is_refused(world: World) {
    names(refused(&world, world.graph("a>b b>b"), "self_referencing_edge").await, "edges.b->b");
}

pub(crate) async fn an_edge_to_a_node_that_is_not_there_is_refused(world: World) {
    for (from, to) in [("a", "absent"), ("absent", "a")] {
        let mut args = world.graph("a>b").args();
        args.edges.push(edge(from, to));
        let refusal = refused_args(&world, args, "execution_not_in_flow").await;
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("absent")), "{refusal:?}");
        names(refusal, &format!("edges.{from}->{to}"));
    }
}

pub(crate) async fn the_same_edge_twice_is_refused(world: World) {
    names(refused(&world, world.graph("a>b b>c a>b"), "dependency_already_exists").await, "edges.a->b");
}

pub(crate) async fn the_same_node_twice_is_refused(world: World) {
    let mut args = world.graph("a>b").args();
    args.nodes.push(node("a"));
    names(refused_args(&world, args, "execution_already_in_flow").await, "nodes.a");
}

pub(crate) async fn a_flow_without_nodes_is_refused(world: World) {
    names(refused(&world, world.graph(""), "invalid_input").await, "nodes");
}

pub(crate) async fn a_join_that_asks_for_more_than_there_is_is_refused(world: World) {
    let graph = || world.graph("a>c b>c");
    names(refused(&world, graph().join("c", quorum(3)), "invalid_input").await, "nodes.c.join");
    names(refused(&world, graph().join("c", quorum(0)), "invalid_input").await, "nodes.c.join");
    names(refused(&world, graph().join("a", any_of()), "invalid_input").await, "nodes.a.join");
    graph().join("c", quorum(2)).submit().await;
}

pub(crate) async fn two_inputs_of_one_name_are_refused(world: World) {
    let graph = world.graph("a>c b>c").passing("a", "c", input("rows")).passing("b", "c", input("rows"));
    names(refused(&world, graph, "invalid_input").await, "edges.b->c");
    let apart = world.graph("a>c b>d").passing("a", "c", input("rows")).passing("b", "d", input("rows"));
    apart.submit().await;
}

pub(crate) async fn two_edges_that_pass_the_payload_into_one_node_are_refused(world: World) {
    let payload = || Some(PassMode::Payload);
    let graph = || world.graph("a>c b>c").passing("a", "c", payload()).passing("b", "c", payload());
    for graph in [graph(), graph().join("c", any_of())] {
        let refusal = refused(&world, graph, "invalid_input").await;
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("{input: NAME}")), "{refusal:?}");
        names(refusal, "edges.b->c");
    }
    let flow = world.graph("a b c").submit().await;
    let edges = ["a", "b"].map(|from| EdgeAddition { passes: payload(), ..grown(from, "c") }).into();
    let growth = GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) };
    let before = world.contents().await;
    names(refused_as(world.backend.grow_flow(growth).await, "invalid_input"), "edges.b->c");
    assert_eq!(world.contents().await, before);
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
        let before = world.contents().await;
        let refusal = refused_as(world.backend.grow_flow(growth(edges)).await, "invalid_input");
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("{input: NAME}")), "{refusal:?}");
        names(refusal, &field);
        assert_eq!(world.contents().await, before);
    }
    world.backend.grow_flow(growth(vec![passing("z", "y")])).await.unwrap();
    let again = world.backend.grow_flow(growth(vec![passing("b", "y")])).await;
    names(refused_as(again, "invalid_input"), "edges.b->y");
}

pub(crate) async fn a_node_over_a_limit_is_refused_by_its_name(world: World) {
    let with = |change: fn(&mut NodeSpec)| world.graph("a>b").with("b", change);
    let large = with(|node| node.payload = Payload::bytes(vec![7; limits::PAYLOAD_BYTES + 1]));
    names(refused(&world, large, "payload_too_large").await, "nodes.b.payload");
    let tagged = with(|node| {
        let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
        node.tags = (0..=limits::TAGS).map(tag).collect();
    });
    let refusal = refused(&world, tagged, "limit_exceeded").await;
    assert_eq!(refusal.limit, Some((32, 33)));
    names(refusal, "nodes.b.tags");
}

pub(crate) async fn a_flow_has_at_most_ten_thousand_nodes(world: World) {
    let mut args = world.graph("").args();
    args.nodes = (0..=limits::FLOW_NODES).map(|nth| node(&format!("n{nth}"))).collect();
    let refusal = refused_args(&world, args, "limit_exceeded").await;
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("nodes"), Some((10_000, 10_001))));
}

pub(crate) async fn a_flow_has_at_most_fifty_thousand_edges(world: World) {
    let (uppers, lowers) = (250, 201);
    let names = (0..uppers).map(|nth| format!("u{nth}")).chain((0..lowers).map(|nth| format!("l{nth}")));
    let mut args = world.graph("").args();
    args.nodes = names.map(|name| node(&name)).collect();
    let pairs = (0..uppers).flat_map(|upper| (0..lowers).map(move |lower| (upper, lower)));
    let pairs = pairs.take(limits::FLOW_EDGES + 1);
    args.edges = pairs.map(|(upper, lower)| edge(&format!("u{upper}"), &format!("l{lower}"))).collect();
    let refusal = refused_args(&world, args, "limit_exceeded").await;
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("edges"), Some((50_000, 50_001))));
}

pub(crate) async fn the_payloads_of_a_flow_have_at_most_sixteen_mebibytes(world: World) {
    let mebibyte = Payload::bytes(vec![7; limits::PAYLOAD_BYTES]);
    let mut args = world.graph("").args();
    args.nodes = (0..17).map(|nth| NodeSpec { payload: mebibyte.clone(), ..node(&format!("n{nth}")) }).collect();
    refused_args(&world, args.clone(), "payload_too_large").await;
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
    let refusal = refused_args(&world, tagged(33), "limit_exceeded").await;
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("tags"), Some((32, 33))));
    let flow_id = world.backend.submit_flow(tagged(32)).await.unwrap().flow_id;
    assert_eq!(world.backend.describe_flow(&flow_id).await.unwrap().tags.len(), 32);
}

pub(crate) async fn a_refused_flow_can_be_submitted_once_it_is_corrected(world: World) {
    let mut args = world.graph("a>b>c").args();
    args.edges.push(EdgeSpec { passes: Some(PassMode::Payload), ..edge("c", "a") });
    refused_args(&world, args.clone(), "cycle_detected").await;
    args.edges.pop();
    assert!(!world.backend.submit_flow(args).await.unwrap().duplicate);
}

async fn refused(world: &World, graph: Graph, code: &str) -> Refusal {
    refused_args(world, graph.args(), code).await
}

/// Checks that the submission is refused with `code` and writes nothing.
async fn refused_args(world: &World, args: SubmitFlowArgs, code: &str) -> Refusal {
    let before = world.contents().await;
    let refusal = refused_as(world.backend.submit_flow(args).await, code);
    assert_eq!(world.contents().await, before);
    refusal
}

#[track_caller]
fn names(refusal: Refusal, field: &str) {
    assert_eq!(refusal.field.as_deref(), Some(field), "{refusal:?}");
}
