//! The output of an execution, as pages and as a stream.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::reader::{Stream, names, whole};
use crate::world::{LeasedExecution, World, answer};

const AT_ONCE: Duration = Duration::from_secs(5);

async fn append(world: &World, held: &LeasedExecution, frames: Value) -> Value {
    let reply = world.post(&held.path("frames"), &held.call(json!({ "frames": frames }))).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body
}

#[tokio::test]
async fn frames_are_read_as_they_were_written() {
    let world = World::start().await;
    let held = world.running("k").await;
    let frames = json!([
        {"text": "ä"},
        {"json": {"a": 1}},
        {"base64": "/wA="},
        {"channel": "err", "type": "x.own", "base64": "/w=="},
    ]);
    let appended = append(&world, &held, frames).await;
    assert_eq!(appended, json!({"attempt_index": 0, "first": 0, "next": 4}));
    let page = world.get(&held.path("stream")).await.body;
    let items = page["items"].as_array().unwrap();
    assert_eq!((&items[0]["item"], &items[0]["seq"], &items[0]["text"]), (&json!("frame"), &json!(0), &json!("ä")));
    assert_eq!((&items[1]["type"], &items[1]["json"]), (&json!("json"), &json!({"a": 1})));
    assert_eq!((&items[2]["type"], &items[2]["base64"]), (&json!("bytes"), &json!("/wA=")));
    assert_eq!((&items[3]["channel"], &items[3]["type"]), (&json!("err"), &json!("x.own")));
    assert_eq!(page["ended"], false);
    let rest = world.get(&format!("{}?attempt=0&from=3", held.path("stream"))).await.body;
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_summary_with_line_breaks_is_one_event() {
    let world = World::start().await;
    let held = world.running("k").await;
    let patch =
        "{\"lease_id\": LEASE, \"mode\": \"summary\", \"frames\": [{\"type\": \"patch\", \"json\": {\"a\": [1,\n2]}}]}";
    let mut call = held.call(json!({}));
    let lease = call["lease_id"].take().to_string();
    let rest: String = ["lease_epoch", "attempt_id"].map(|name| format!(", \"{name}\": {}", call[name])).concat();
    let body = patch.replace("LEASE", &format!("{lease}{rest}"));
    assert_eq!(world.post_text(&held.path("frames"), body).await.status, 200);
    held.complete(&world, json!(1)).await;
    let events = whole(&world, &held.path("stream"), None).await;
    assert_eq!(names(&events), ["summary", "closed", "end"]);
    assert_eq!(events[0].data["document"], json!({"a": [1, 2]}));
}

#[tokio::test]
async fn a_stream_sends_every_event_until_the_end() {
    let world = World::start().await;
    let held = world.running("k").await;
    append(&world, &held, json!([{"text": "a"}])).await;
    let mut stream = Stream::open(&world, &held.path("stream"), None).await;
    let mut events = vec![stream.next().await.unwrap()];
    append(&world, &held, json!([{"text": "b"}])).await;
    held.complete(&world, json!(1)).await;
    events.extend(stream.rest().await);
    assert_eq!(names(&events), ["frame", "frame", "closed", "end"]);
    assert_eq!((&events[0].data["text"], &events[1].data["text"]), (&json!("a"), &json!("b")));
    assert_eq!((&events[2].data["outcome"], &events[3].data["outcome"]), (&json!("success"), &json!("success")));
}

/// A reader that is cut off continues after its last event, and gets each item once.
#[tokio::test]
async fn a_reconnected_reader_continues_after_its_last_event() {
    let world = World::start().await;
    let held = world.running("k").await;
    append(&world, &held, json!([{"text": "a"}, {"text": "b"}, {"text": "c"}])).await;
    held.complete(&world, json!(1)).await;
    let path = held.path("stream");
    let all = whole(&world, &path, None).await;
    assert_eq!(names(&all), ["frame", "frame", "frame", "closed", "end"]);
    for (nth, event) in all.iter().enumerate().take(3) {
        assert_eq!(whole(&world, &path, event.id.as_deref()).await, all[nth + 1..]);
    }
    let over = world.follow(&path, all[4].id.as_deref()).send().await.unwrap();
    assert_eq!(over.status(), 204, "there is nothing to come back for");
}

/// The output is larger than one read and larger than one write.
#[tokio::test]
async fn long_output_is_streamed_completely_and_in_order() {
    let world = World::start().await;
    let held = world.running("k").await;
    let text = |nth: usize| format!("{nth} {}", "x".repeat(3_000));
    for first in [0, 100, 200] {
        let frames: Vec<_> = (first..first + 100).map(|nth| json!({"text": text(nth)})).collect();
        append(&world, &held, json!(frames)).await;
    }
    held.complete(&world, json!(1)).await;
    let path = held.path("stream");
    let all = whole(&world, &path, None).await;
    assert_eq!(names(&all[300..]), ["closed", "end"]);
    for (nth, event) in all[..300].iter().enumerate() {
        let frame = &event.data;
        assert_eq!((event.name.as_str(), &frame["seq"], &frame["text"]), ("frame", &json!(nth), &json!(text(nth))));
    }
    for nth in [0, 99, 100, 298] {
        assert_eq!(whole(&world, &path, all[nth].id.as_deref()).await, all[nth + 1..]);
    }
}

#[tokio::test]
async fn output_that_was_superseded_is_marked() {
    let world = World::start().await;
    let first = world.running("k").await;
    append(&world, &first, json!([{"text": "a"}])).await;
    world.post(&first.path("revoke"), &json!({})).await;
    let second = world.claim("k").await;
    append(&world, &second, json!([{"text": "b"}])).await;
    second.complete(&world, json!(1)).await;
    let events = whole(&world, &second.path("stream"), None).await;
    assert_eq!(names(&events), ["frame", "closed", "superseded", "frame", "closed", "end"]);
    assert_eq!((&events[2].data["attempt"], &events[2].data["by"]), (&json!(0), &json!(1)));
    let alone = format!("{}?attempt=1", second.path("stream"));
    let items = world.get(&alone).await.body["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_waiting_reader_is_notified_at_once() {
    let world = World::start().await;
    let held = world.running("k").await;
    append(&world, &held, json!([{"text": "a"}])).await;
    let next = world.get(&held.path("stream")).await.text("next");
    let path = format!("{}?from={next}&wait_ms=60000", held.path("stream"));
    let began = Instant::now();
    let (reply, _) = tokio::join!(world.get(&path), append(&world, &held, json!([{"text": "b"}])));
    assert_eq!(reply.body["items"][0]["text"], "b");
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn a_wrong_stream_request_is_refused_and_writes_nothing() {
    let world = World::start().await;
    let held = world.running("k").await;
    let other = world.running("other").await;
    append(&world, &held, json!([{"text": "a"}])).await;
    let before = world.contents().await;
    let large = "x".repeat(64 * 1024 + 1);
    for (body, status, code, field) in [
        (json!({"frames": [{"text": large}]}), 413, "retention_limit_exceeded", "frames[0]"),
        (json!({"frames": [{}]}), 400, "invalid_input", "frames[0]"),
        (json!({"frames": [{"text": "a", "json": 1}]}), 400, "invalid_input", "frames[0]"),
        (json!({"frames": [{"text": "a", "colour": "red"}]}), 400, "unknown_field", "frames[0].colour"),
        (json!({"frames": [{"type": "a b", "text": "a"}]}), 400, "invalid_input", "frames[0].type"),
        (json!({"frames": [{"type": "patch", "json": {}}]}), 400, "invalid_frame_type", "frames[0].type"),
        (json!({"frames": [{"text": "a"}], "mode": "loud"}), 400, "invalid_input", "mode"),
        (json!({"frames": [{"text": "a"}], "mode": "best_effort"}), 400, "invalid_input", "mode"),
        (json!({"frames": [{"text": "a"}], "from": 2}), 409, "invalid_offset", "from"),
    ] {
        world.post(&held.path("frames"), &held.call(body)).await.assert_refused(status, code, Some(field));
    }
    assert!(world.contents().await == before);
    let cursor = world.get(&other.path("stream")).await.text("next");
    for (query, status, code, field) in [
        (format!("from={cursor}"), 400, "invalid_cursor", Some("from")),
        ("from=x".to_owned(), 400, "invalid_cursor", Some("from")),
        ("from=9".to_owned(), 400, "invalid_cursor", Some("from")),
        ("attempt=x".to_owned(), 400, "invalid_input", Some("attempt")),
        ("attempt=7".to_owned(), 404, "stream_not_found", None),
        ("limit=0".to_owned(), 400, "invalid_input", Some("limit")),
        ("limit=1001".to_owned(), 400, "limit_exceeded", Some("limit")),
        ("colour=red".to_owned(), 400, "unknown_field", Some("colour")),
    ] {
        world.get(&format!("{}?{query}", held.path("stream"))).await.assert_refused(status, code, field);
    }
    let request = world.follow(&held.path("stream"), Some("x"));
    answer(request).await.assert_refused(400, "invalid_input", Some("Last-Event-ID"));
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let world = World::start().await;
    let held = world.running("k").await;
    append(&world, &held, json!([{"text": "a"}])).await;
    let mut response = world.follow(&held.path("stream"), None).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    let began = Instant::now();
    world.stop().await;
    while let Ok(Some(_)) = response.chunk().await {}
    assert!(began.elapsed() < AT_ONCE);
}
