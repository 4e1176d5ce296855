//! The result of an upstream is passed to its dependents, byte for byte.

use crate::prelude::*;
use crate::world::graph::{input, lenient};

/// Bytes that are not valid UTF-8, including zero bytes, a line feed, a carriage return and a quote.
const BINARY: [u8; 9] = [0, 159, 146, 150, 255, 10, 13, 34, 0];

pub(crate) async fn a_result_may_take_the_place_of_the_payload(world: World) {
    let flow = world.graph("a>b").passing("a", "b", Some(PassMode::Payload)).submit().await;
    let held = flow.start_one().await;
    assert_eq!(&held.payload.bytes[..], b"a");
    let result = Payload::new(ContentType::parse("image/png").unwrap(), BINARY.to_vec());
    held.complete_with(Some(result.clone())).await.unwrap();
    assert_eq!(flow.start_one().await.payload, result);
    assert_eq!(world.backend.payload(&flow.member("b")).await.unwrap(), result);
}

pub(crate) async fn a_result_can_be_an_input_in_addition_to_the_payload(world: World) {
    let flow = world.graph("a>b").passing("a", "b", input("image")).submit().await;
    flow.start_one().await.complete(&BINARY).await.unwrap();
    let held = flow.start_one().await;
    assert_eq!((&held.payload.bytes[..], held.input("image")), (&b"b"[..], Some(&BINARY[..])));
    assert_eq!((held.inputs[0].from, held.task.flow.unwrap().inputs), (flow.member("a"), 1));
}

pub(crate) async fn inputs_come_by_their_names(world: World) {
    let graph = world.graph("a>d b>d c>d");
    let graph = graph.passing("a", "d", input("zeta")).passing("b", "d", input("alpha"));
    let flow = graph.passing("c", "d", Some(PassMode::Payload)).submit().await;
    let started = flow.start().await;
    for (name, held) in &started {
        held.complete(format!("of {name}").as_bytes()).await.unwrap();
    }
    let held = flow.start_one().await;
    assert_eq!(held.input_names(), ["alpha", "zeta"]);
    assert_eq!((held.input("alpha"), held.input("zeta")), (Some(&b"of b"[..]), Some(&b"of a"[..])));
    assert_eq!(&held.payload.bytes[..], b"of c");
}

pub(crate) async fn an_edge_passes_nothing_unless_it_says_so(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.start_one().await.complete(b"result").await.unwrap();
    let held = flow.start_one().await;
    assert_eq!((&held.payload.bytes[..], held.inputs.len()), (&b"b"[..], 0));
}

pub(crate) async fn an_upstream_without_a_result_passes_nothing_on(world: World) {
    let graph = world.graph("a>b a>c").passing("a", "b", Some(PassMode::Payload)).passing("a", "c", input("rows"));
    let flow = graph.submit().await;
    flow.start_one().await.complete_with(None).await.unwrap();
    let started = flow.start().await;
    assert_eq!((&started["b"].payload.bytes[..], started["c"].inputs.len()), (&b"b"[..], 0));
}

pub(crate) async fn an_empty_result_is_a_result(world: World) {
    let graph = world.graph("a>b a>c").passing("a", "b", Some(PassMode::Payload)).passing("a", "c", input("rows"));
    let flow = graph.submit().await;
    flow.start_one().await.complete(b"").await.unwrap();
    let started = flow.start().await;
    assert_eq!((&started["b"].payload.bytes[..], started["c"].input("rows")), (&b""[..], Some(&b""[..])));
}

pub(crate) async fn a_result_is_passed_to_every_dependent_that_requests_it(world: World) {
    let names: Vec<_> = (0..20).map(|nth| format!("n{nth}")).collect();
    let edges: Vec<_> = names.iter().map(|name| format!("a>{name}")).collect();
    let pass = |graph: Graph, name: &String| graph.passing("a", name, input("model"));
    let flow = names.iter().fold(world.graph(&edges.join(" ")), pass).submit().await;
    flow.start_one().await.complete(&BINARY).await.unwrap();
    flow.settle().await;
    let started = flow.start().await;
    assert_eq!(started.len(), 20);
    assert!(started.values().all(|held| held.input("model") == Some(&BINARY[..])));
}

pub(crate) async fn a_result_after_the_join_has_fired_is_not_passed_on(world: World) {
    let graph = world.graph("a>z b>z").join("z", lenient(1));
    let flow = graph.passing("a", "z", input("a")).passing("b", "z", input("b")).submit().await;
    let started = flow.start().await;
    started["b"].complete(b"first").await.unwrap();
    started["a"].complete(b"late").await.unwrap();
    assert_eq!(flow.start_one().await.input_names(), ["b"]);
}

pub(crate) async fn only_success_passes_something_on(world: World) {
    let graph = world.graph("a>z b>z").join("z", lenient(1));
    let flow = graph.passing("a", "z", input("a")).passing("b", "z", input("b")).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    started["b"].complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.input_names(), ["b"]);
}

pub(crate) async fn a_second_try_is_handed_the_same_again(world: World) {
    let graph = world.graph("a>b").with("b", |node| node.policy.retry_policy.max_retries = 1);
    let graph = graph.passing("a", "b", input("rows"));
    let flow = graph.submit().await;
    flow.start_one().await.complete(&BINARY).await.unwrap();
    let dead = flow.start_one().await;
    world.clock.advance(dead.lease_ttl()).await;
    let reclaimed = flow.start_one().await;
    assert_eq!(reclaimed.input("rows"), Some(&BINARY[..]));
    reclaimed.fail("network").await.unwrap();
    world.clock.fire_due().await;
    assert_eq!(flow.start_one().await.input("rows"), Some(&BINARY[..]));
}

pub(crate) async fn a_result_made_from_a_passed_payload_is_passed_on(world: World) {
    let graph = world.graph("a>b>c").passing("a", "b", Some(PassMode::Payload));
    let flow = graph.passing("b", "c", Some(PassMode::Payload)).submit().await;
    flow.start_one().await.complete(&BINARY).await.unwrap();
    let middle = flow.start_one().await;
    let [turned, rest @ ..] = &middle.payload.bytes[..] else { panic!("nothing was passed on") };
    let answer: Vec<u8> = rest.iter().copied().chain([*turned]).collect();
    middle.complete(&answer).await.unwrap();
    assert_eq!(&flow.start_one().await.payload.bytes[..], &answer[..]);
}

pub(crate) async fn inputs_come_up_to_four_mebibytes_and_the_rest_is_named(world: World) {
    let names = ["n0", "n1", "n2", "n3", "n4"];
    let edges = names.map(|name| format!("{name}>z")).join(" ");
    let flow =
        names.iter().fold(world.graph(&edges), |graph, name| graph.passing(name, "z", input(name))).submit().await;
    let mebibyte = vec![7; limits::PAYLOAD_BYTES];
    for held in flow.start().await.values() {
        held.complete(&mebibyte).await.unwrap();
    }
    let held = flow.start_one().await;
    assert_eq!(held.input_names(), names);
    let sizes = names.map(|name| held.input(name).map(<[u8]>::len));
    let whole = Some(limits::PAYLOAD_BYTES);
    assert_eq!(sizes, [whole, whole, whole, whole, None], "the last one is read as the result it is");
    assert_eq!(world.result(&held.inputs[4].from).await, mebibyte);
}

pub(crate) async fn a_claim_stops_at_four_mebibytes_of_what_was_passed_on(world: World) {
    let names: Vec<_> = (0..6).map(|nth| format!("n{nth}")).collect();
    let edges: Vec<_> = names.iter().map(|name| format!("a>{name}")).collect();
    let pass = |graph: Graph, name: &String| graph.passing("a", name, Some(PassMode::Payload));
    let flow = names.iter().fold(world.graph(&edges.join(" ")), pass).submit().await;
    flow.start_one().await.complete(&vec![7; limits::PAYLOAD_BYTES]).await.unwrap();
    let worker = world.worker("hand");
    assert_eq!(worker.claim_on(flow.partition(), 100).await.len(), 4);
    assert_eq!(worker.claim_on(flow.partition(), 100).await.len(), 2);
}
