//! The events of a flow, as pages and as a stream.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::reader::{Message, Stream, whole};
use crate::world::{World, answer};

const AT_ONCE: Duration = Duration::from_secs(5);

async fn submit_single_node(world: &World) -> String {
    world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": "k"}}})).await
}

/// Returns the numbers of the events of a flow.
fn ids(events: &[Message]) -> Vec<u64> {
    events.iter().map(|event| event.id.as_ref().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_waiting_reader_gets_the_events_of_a_flow() {
    let world = World::start().await;
    let flow = submit_single_node(&world).await;
    let path = format!("/v1/flows/{flow}/events");
    let first = world.get(&path).await.body;
    assert_eq!((&first["events"][0]["event"], &first["next"]), (&json!("opened"), &json!(1)));
    assert_eq!((&first["ended"], &first["missed"]), (&json!(false), &json!(false)));
    let empty = world.get(&format!("{path}?from=1&wait_ms=20")).await.body;
    assert_eq!((&empty["events"], &empty["next"]), (&json!([]), &json!(1)));
    let began = Instant::now();
    let later = format!("{path}?from=1&wait_ms=60000");
    let (reply, held) = tokio::join!(world.get(&later), world.claim("k"));
    assert_eq!(reply.body["events"][0]["to"], "active");
    held.complete(&world, json!(1)).await;
    let rest = world.get(&format!("{path}?from=2&limit=1")).await.body;
    assert_eq!((&rest["events"][0]["to"], &rest["ended"]), (&json!("completed"), &json!(false)));
    let last = world.get(&format!("{path}?from=3&wait_ms=60000")).await.body;
    assert_eq!((&last["events"][0]["event"], &last["ended"]), (&json!("ended"), &json!(true)));
    let over = world.get(&format!("{path}?from=4&wait_ms=60000")).await.body;
    assert_eq!((&over["events"], &over["ended"]), (&json!([]), &json!(true)));
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn a_stream_sends_every_event_until_the_end() {
    let world = World::start().await;
    let flow = submit_single_node(&world).await;
    let mut stream = Stream::open(&world, &format!("/v1/flows/{flow}/events"), None).await;
    let mut events = vec![stream.next().await.unwrap()];
    assert_eq!(events[0].data["event"], "opened");
    world.claim("k").await.complete(&world, json!(1)).await;
    events.extend(stream.rest().await);
    let names: Vec<_> = events.iter().map(|event| event.data["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["opened", "moved", "moved", "ended"]);
    assert_eq!(ids(&events), [0, 1, 2, 3]);
    assert!(events.iter().zip(0..).all(|(event, id)| event.data["seq"] == id));
}

#[tokio::test]
async fn a_reconnected_reader_continues_after_its_last_event() {
    let world = World::start().await;
    let flow = submit_single_node(&world).await;
    world.claim("k").await.complete(&world, json!(1)).await;
    let path = format!("/v1/flows/{flow}/events");
    assert_eq!(ids(&whole(&world, &path, Some("1")).await), [2, 3]);
    let over = world.follow(&path, Some("3")).send().await.unwrap();
    assert_eq!(over.status(), 204, "there is nothing to come back for");
    for (last, parameter, field) in
        [("x", "", "Last-Event-ID"), ("1", "?limit=1", "limit"), ("1", "?wait_ms=1", "wait_ms")]
    {
        let reply = answer(world.follow(&format!("{path}{parameter}"), Some(last))).await;
        let code = if parameter.is_empty() { "invalid_input" } else { "unknown_field" };
        reply.assert_refused(400, code, Some(field));
    }
    let nowhere = path.replace(&flow, "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c");
    answer(world.follow(&nowhere, None)).await.assert_refused(404, "flow_not_found", None);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let world = World::start().await;
    let flow = submit_single_node(&world).await;
    let mut response = world.follow(&format!("/v1/flows/{flow}/events"), None).send().await.unwrap();
    let began = Instant::now();
    assert!(response.chunk().await.unwrap().is_some());
    world.stop().await;
    while let Ok(Some(_)) = response.chunk().await {}
    assert!(began.elapsed() < AT_ONCE);
}
