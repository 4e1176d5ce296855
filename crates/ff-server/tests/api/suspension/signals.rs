//! Delivering signals over HTTP: the token is the only credential, and a caller without it learns nothing.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, answer};

const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

fn forged() -> String {
    format!("k1:{}", "0".repeat(64))
}

fn signal(granted: &Value, name: &str) -> Value {
    json!({"waitpoint_id": granted["waitpoint_id"], "waitpoint_token": granted["waitpoint_token"], "name": name})
}

/// Returns everything a caller sees of a response, except its time.
fn seen(reply: &Reply) -> (u16, Value, BTreeSet<String>) {
    (reply.status.as_u16(), reply.body.clone(), reply.headers.keys().map(ToString::to_string).collect())
}

#[tokio::test]
async fn without_the_token_what_is_there_and_what_is_not_are_answered_alike() {
    let world = World::start().await;
    let suspended = world.running("suspended").await;
    let granted = suspended.suspended(&world, "a").await;
    let finished = world.running("finished").await;
    let used = finished.ahead(&world, "a").await;
    world.post(&finished.path("complete"), &finished.call(json!({}))).await;
    let nowhere = format!("/v1/executions/%7Bfp:1%7D:{UUID}/signals");

    for token in [forged(), "k9:00".to_owned(), "nonsense".to_owned(), String::new()] {
        let shown = |waitpoint: &Value| json!({"waitpoint_id": waitpoint, "waitpoint_token": token, "name": "n"});
        let by_key = |key: &str| json!({"waitpoint_key": key, "waitpoint_token": token, "name": "n"});
        let mut answers = Vec::new();
        let before = world.contents().await;
        for (path, body) in [
            (suspended.path("signals"), shown(&granted["waitpoint_id"])),
            (suspended.path("signals"), shown(&json!(UUID))),
            (suspended.path("signals"), by_key("a")),
            (suspended.path("signals"), by_key("b")),
            (finished.path("signals"), shown(&used["waitpoint_id"])),
            (nowhere.clone(), shown(&json!(UUID))),
            (nowhere.clone(), by_key("a")),
        ] {
            answers.push(seen(&world.post(&path, &body).await));
        }
        assert!(world.contents().await == before);
        let code = if token.is_empty() { "missing_token" } else { "invalid_token" };
        assert_eq!((answers[0].0, &answers[0].1["code"]), (403, &json!(code)));
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    }
    let swapped = signal(&used, "n");
    world.post(&suspended.path("signals"), &swapped).await.assert_refused(403, "invalid_token", None);
    let refused = world.post(&finished.path("signals"), &signal(&used, "n")).await;
    refused.assert_refused(409, "target_not_signalable", None);
}

#[tokio::test]
async fn a_signal_is_the_same_under_its_key_in_the_header_or_in_the_body() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.suspended(&world, "a").await;
    let body = signal(&granted, "go");
    let keyed = |key: &str| {
        let request = world.request(Method::POST, &held.path("signals")).header("Idempotency-Key", key);
        answer(request.json(&body))
    };
    let first = keyed("once").await;
    assert_eq!(first.body["effect"], "resume_condition_satisfied");
    let again = keyed("once").await;
    assert_eq!(again.body, json!({"signal_id": first.body["signal_id"], "effect": "duplicate"}));
    let mut field = body.clone();
    field["idempotency_key"] = json!("once");
    assert_eq!(world.post(&held.path("signals"), &field).await.body, again.body);
    keyed("twice").await.assert_refused(409, "waitpoint_closed", None);
}

#[tokio::test]
async fn signals_are_listed_and_read_with_their_bytes() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.ahead(&world, "a").await;
    for (name, payload) in
        [("one", json!({"payload": [1]})), ("two", json!({"payload_base64": "AP8="})), ("three", json!({}))]
    {
        let mut body = signal(&granted, name);
        body.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        assert_eq!(world.post(&held.path("signals"), &body).await.status, 200);
    }
    let first = world.get(&held.path("signals?limit=2")).await.body;
    let names: Vec<_> = first["signals"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!((names, &first["next"]), (vec![json!("one"), json!("two")], &json!(2)));
    let rest = world.get(&held.path("signals?skip=2")).await.body;
    assert_eq!((&rest["signals"][0]["name"], rest.get("next")), (&json!("three"), None));
    let read = async |nth: usize| {
        let id = first["signals"][nth]["id"].as_str().unwrap().to_owned();
        world.get(&held.path(&format!("signals/{id}"))).await.body
    };
    assert_eq!(read(0).await["payload"], json!([1]));
    let bytes = read(1).await;
    assert_eq!(
        (&bytes["payload_base64"], &bytes["content_type"]),
        (&json!("AP8="), &json!("application/octet-stream"))
    );
    world.get(&held.path(&format!("signals/{UUID}"))).await.assert_refused(404, "not_found", None);
}

#[tokio::test]
async fn a_signal_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.ahead(&world, "a").await;
    let sized = |bytes: usize| {
        let mut body = signal(&granted, "n");
        body["payload"] = json!("x".repeat(bytes - 2));
        body
    };
    let before = world.contents().await;
    let past = world.post(&held.path("signals"), &sized(262_145)).await;
    past.assert_refused(413, "payload_too_large", Some("payload"));
    assert_eq!((&past.body["limit"], &past.body["sent"]), (&json!(262_144), &json!(262_145)));
    assert!(world.contents().await == before);
    assert_eq!(world.post(&held.path("signals"), &sized(262_144)).await.status, 200);
}

#[tokio::test]
async fn a_sender_cannot_use_the_source_type_operator() {
    let world = World::start().await;
    let held = world.running("k").await;
    let mut body = signal(&held.suspended(&world, "a").await, "approved");
    body["source"] = json!({"type": "operator", "identity": "ada"});
    world.post(&held.path("signals"), &body).await.assert_refused(400, "invalid_input", Some("source.type"));
}

#[tokio::test]
async fn deliveries_are_followed_with_a_cursor() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.suspended(&world, "a").await;
    let start = world.get("/v1/deliveries").await.body;
    assert_eq!((&start["deliveries"], &start["missed"]), (&json!([]), &json!(false)));
    let path = format!("/v1/deliveries?after={}&wait_ms=60000", start["next"].as_str().unwrap());
    let (signals, body) = (held.path("signals"), signal(&granted, "go"));
    let (reply, sent) = tokio::join!(world.get(&path), world.post(&signals, &body));
    let delivery = &reply.body["deliveries"][0];
    assert_eq!((&delivery["signal_id"], &delivery["execution_id"]), (&sent.body["signal_id"], &held.0["execution_id"]));
    let after = format!("/v1/deliveries?after={}", reply.text("next"));
    assert_eq!(world.get(&after).await.body["deliveries"], json!([]));
}

/// A caller that guesses tokens is held back, also with its next request, and is told how long.
#[tokio::test]
async fn a_caller_that_guesses_is_held_back() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.suspended(&world, "a").await;
    let guess = json!({"waitpoint_id": granted["waitpoint_id"], "waitpoint_token": forged(), "name": "n"});
    let path = held.path("signals");
    let mut held_back = None;
    for _ in 0..40 {
        let answers = join_all((0..10).map(|_| world.post(&path, &guess))).await;
        held_back = held_back.or_else(|| answers.into_iter().find(|answer| answer.status == 429));
    }
    let held_back = held_back.expect("four hundred guesses were all judged");
    held_back.assert_refused(429, "rate_limit_exceeded", None);
    let wait: u64 = held_back.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(world.post(&path, &signal(&granted, "go")).await.status, 429, "a guess that is right is not told apart");
    assert_eq!(world.get(path.trim_end_matches("/signals")).await.status, 200, "other requests are answered");
}
