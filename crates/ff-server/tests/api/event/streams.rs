//! Event streams: the events of all executions, or of one until it ends.

use std::time::{Duration, Instant};

use ff_server::Limits;
use serde_json::{Value, json};

use crate::reader::{Message, Stream};
use crate::world::{World, answer};

const AT_ONCE: Duration = Duration::from_secs(5);

fn events(messages: &[Message]) -> Vec<Value> {
    let pages = messages.iter().filter(|message| message.name == "events");
    pages.flat_map(|page| page.data["events"].as_array().unwrap().clone()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_hears_nothing_twice() {
    let world = World::start().await;
    let start = world.get("/v1/events").await.text("next");
    let (mut messages, mut last) = (Vec::new(), None);
    for round in 0..5 {
        for _ in 0..round {
            world.submit(&json!({"kind": "k"})).await;
        }
        let mut stream = Stream::open(&world, "/v1/events", last.as_deref()).await;
        // The client disconnects after the first message.
        let message = stream.next().await.unwrap();
        assert_eq!((message.name.as_str(), &message.data["missed"]), ("events", &json!(false)));
        last = message.id.clone();
        if round == 0 {
            assert_eq!(message.data["events"], json!([]), "whoever begins is told where");
        }
        messages.push(message);
    }
    let all = world.get(&format!("/v1/events?after={start}&limit=1000")).await.body;
    assert_eq!(events(&messages).len(), 1 + 2 + 3 + 4);
    assert_eq!(json!(events(&messages)), all["events"]);
}

#[tokio::test]
async fn an_event_stream_pushes_new_events_of_its_namespace() {
    let world = World::start().await;
    let mut stream = Stream::open(&world, "/v1/events?namespace=acme", None).await;
    assert_eq!(stream.next().await.unwrap().data["events"], json!([]));
    world.submit(&json!({"kind": "k"})).await;
    let id = world.submit(&json!({"kind": "k", "namespace": "acme"})).await;
    let page = loop {
        let page = stream.next().await.unwrap();
        if page.data["events"] != json!([]) {
            break page;
        }
    };
    assert_eq!(page.data["events"][0]["execution_id"], id);
    assert_eq!(page.data["events"].as_array().unwrap().len(), 1);
    assert_eq!(page.id.unwrap(), page.data["next"].as_str().unwrap());
}

#[tokio::test]
async fn an_execution_is_watched_until_its_end() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let path = format!("/v1/executions/{id}/events");
    let mut stream = Stream::open(&world, &path, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data["public_state"]), ("execution", &json!("waiting")));
    world.submit(&json!({"kind": "another"})).await;
    world.claim("k").await.complete(&world, json!(1)).await;
    let messages = stream.rest().await;
    assert_eq!(names(&events(&messages)), ["started", "finished"]);
    let end = messages.last().unwrap();
    assert_eq!((end.name.as_str(), &end.data["public_state"]), ("end", &json!("completed")));

    let mut again = Stream::open(&world, &path, first.id.as_deref()).await;
    let rest = again.rest().await;
    assert_eq!(names(&events(&rest)), ["started", "finished"], "it heard only how things stood");
    assert_eq!(rest.last().unwrap().name, "end");
    let mut anew = Stream::open(&world, &path, None).await;
    let only = anew.rest().await;
    assert_eq!(only.iter().map(|message| message.name.as_str()).collect::<Vec<_>>(), ["end"]);
    let over = world.follow(&path, end.id.as_deref()).send().await.unwrap();
    assert_eq!(over.status(), 204, "there is nothing to come back for");
}

#[tokio::test]
async fn a_reconnected_watcher_continues_after_its_last_event() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let path = format!("/v1/executions/{id}/events");
    let mut messages = Vec::new();
    let mut stream = Stream::open(&world, &path, None).await;
    messages.push(stream.next().await.unwrap());
    let held = world.claim("k").await;
    messages.push(stream.next().await.unwrap());
    drop(stream);
    held.complete(&world, json!(1)).await;
    world.post(&format!("/v1/executions/{id}/replay"), &json!({})).await;
    world.claim("k").await.complete(&world, json!(2)).await;
    let mut stream = Stream::open(&world, &path, messages[1].id.as_deref()).await;
    messages.extend(stream.rest().await);
    assert_eq!(names(&events(&messages)), ["started", "finished", "replayed", "started", "finished"]);
    assert_eq!(messages.iter().filter(|message| message.name == "end").count(), 1);
}

#[tokio::test]
async fn an_end_that_was_heard_is_not_the_end_after_a_replay() {
    let world = World::start().await;
    let held = world.running("k").await;
    held.complete(&world, json!(1)).await;
    let path = held.path("events");
    let end = Stream::open(&world, &path, None).await.next().await.unwrap();
    world.post(&held.path("replay"), &json!({})).await;
    let mut stream = Stream::open(&world, &path, end.id.as_deref()).await;
    let stands = stream.next().await.unwrap();
    assert_eq!((stands.name.as_str(), &stands.data["public_state"]), ("execution", &json!("waiting")));
}

#[tokio::test]
async fn the_events_of_an_execution_are_also_read_in_pages() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let path = format!("/v1/executions/{id}/events");
    let start = world.get(&path).await.text("next");
    world.submit(&json!({"kind": "another"})).await;
    world.claim("k").await;
    for path in [path.clone(), "/v1/events".to_owned()] {
        let mark = if path.ends_with("/v1/events") { format!("&execution_id={id}") } else { String::new() };
        let page = world.get(&format!("{path}?after={start}{mark}")).await.body;
        assert_eq!(names(page["events"].as_array().unwrap()), ["started"], "{page}");
    }
    let nobody = "/v1/executions/%7Bfp:1%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c/events";
    world.get(nobody).await.assert_refused(404, "execution_not_found", None);
    let far = "/v1/events?execution_id=%7Bfp:200%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
    world.get(far).await.assert_refused(400, "invalid_execution_id", Some("execution_id"));
}

#[tokio::test]
async fn a_stream_that_cannot_be_is_refused_with_what_is_wrong() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    for path in ["/v1/events".to_owned(), format!("/v1/executions/{id}/events")] {
        for (last, parameter, code, field) in [
            ("x", "", "invalid_input", "Last-Event-ID"),
            ("1", "?limit=1", "unknown_field", "limit"),
            ("1", "?wait_ms=1", "unknown_field", "wait_ms"),
        ] {
            let request = world.follow(&format!("{path}{parameter}"), Some(last));
            answer(request).await.assert_refused(400, code, Some(field));
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams_of_events() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let mut everything = Stream::open(&world, "/v1/events", None).await;
    let mut one = Stream::open(&world, &format!("/v1/executions/{id}/events"), None).await;
    assert!(everything.next().await.is_some() && one.next().await.is_some());
    let began = Instant::now();
    world.stop().await;
    assert!(everything.rest().await.is_empty() && one.rest().await.is_empty());
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn as_many_streams_are_open_as_the_server_keeps_and_no_more() {
    let limits = Limits { streams: 16, ..Limits::default() };
    let world = World::within(limits).await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let mut stream = Stream::open(&world, "/v1/events", None).await;
        stream.next().await.unwrap();
        open.push(stream);
    }
    let one_more = answer(world.follow("/v1/events", None)).await;
    one_more.assert_refused(429, "rate_limit_exceeded", None);
    assert!(one_more.text("detail").contains("16 streams are open"), "{one_more:?}");
    assert!(one_more.headers.contains_key("retry-after"));
    assert_eq!(world.get("/v1/events").await.status, 200, "whoever asks for a page is answered");
}
