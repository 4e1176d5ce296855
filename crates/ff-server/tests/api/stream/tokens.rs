//! A token lets a reader without a key read the stream of one execution, and nothing else, for a limited time.

use std::time::Duration;

use ff_core::api_key::Role;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::keyed::KeyedStore;
use crate::log;
use crate::world::{LeasedExecution, Reply, World, answer};

/// Creates a token for the stream of an execution.
async fn token(world: &World, held: &LeasedExecution, body: Value) -> String {
    let reply = world.post(&held.path("stream/token"), &body).await;
    assert_eq!((reply.status.as_u16(), &reply.headers["cache-control"]), (200, &"no-store".parse().unwrap()));
    assert!(reply.body["expires_at"].is_i64(), "{reply:?}");
    reply.text("token")
}

async fn append(world: &World, held: &LeasedExecution, text: &str) {
    let body = json!({"frames": [{"text": text}]});
    assert_eq!(world.post(&held.path("frames"), &held.call(body)).await.status, 200);
}

/// Reads the stream of an execution with a token alone.
async fn read(world: &World, held: &LeasedExecution, token: &str) -> Reply {
    answer(world.http.get(format!("{}{}", world.url, held.path("stream"))).query(&[("token", token)])).await
}

async fn follow(world: &World, held: &LeasedExecution, token: &str) -> Response {
    let request = world.http.get(format!("{}{}", world.url, held.path("stream"))).query(&[("token", token)]);
    request.header("accept", "text/event-stream").send().await.unwrap()
}

#[tokio::test]
async fn a_token_reads_one_stream_without_a_key_and_nothing_else() {
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let (mine, other) = (world.running("mine").await, world.running("other").await);
    append(&world, &mine, "a").await;
    let token = token(&world, &mine, json!({})).await;
    assert_eq!(read(&world, &mine, &token).await.body["items"][0]["text"], "a");
    mine.complete(&world, json!(1)).await;
    let text = follow(&world, &mine, &token).await.text().await.unwrap();
    assert!(text.contains("\"text\":\"a\"") && text.contains("event: end"), "{text}");
    read(&world, &other, &token).await.assert_refused(403, "invalid_token", None);
    let get = |path: String| answer(world.http.get(format!("{}{path}", world.url)).query(&[("token", &token)]));
    for verb in ["result", "payload", "attempts", "events"] {
        get(mine.path(verb)).await.assert_refused(401, "unauthenticated", Some("Authorization"));
    }
    get("/v1/executions".into()).await.assert_refused(401, "unauthenticated", Some("Authorization"));
    get(mine.path("")).await.assert_refused(404, "not_found", None);
    let made = world.http.post(format!("{}{}", world.url, mine.path("stream/token"))).query(&[("token", &token)]);
    answer(made).await.assert_refused(401, "unauthenticated", Some("Authorization"));
}

/// A reader that guesses tokens learns nothing, not even whether the execution exists.
#[tokio::test]
async fn forged_and_foreign_tokens_are_refused_alike_with_keys_and_without() {
    let (keyed, admin) = KeyedStore::new().await;
    for world in [keyed.asked_with(&admin).await, World::start().await] {
        let (mine, other) = (world.running("mine").await, world.running("other").await);
        let genuine = token(&world, &mine, json!({"expires_in_ms": 60_000})).await;
        let granted = mine.ahead(&world, "approval").await;
        assert_eq!(read(&world, &mine, &genuine).await.status, 200);
        let (kid, rest) = genuine.split_once(':').unwrap();
        let (moment, mac) = rest.split_once(':').unwrap();
        let later = moment.parse::<u64>().unwrap() + 1;
        let foreign = read(&world, &other, &genuine).await;
        foreign.assert_refused(403, "invalid_token", None);
        for forged in [
            String::new(),
            "nonsense".into(),
            format!("{kid}:{moment}:{}", "0".repeat(64)),
            format!("{kid}:{later}:{mac}"),
            format!("k9:{moment}:{mac}"),
            format!("{genuine}0"),
            granted["waitpoint_token"].as_str().unwrap().to_owned(),
        ] {
            let refused = read(&world, &mine, &forged).await;
            assert_eq!((refused.status, &refused.body), (foreign.status, &foreign.body), "{forged}");
            assert!(forged.is_empty() || !refused.body.to_string().contains(&forged));
        }
        let nowhere = "/v1/executions/%7Bfp:1%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c/stream";
        let nowhere = answer(world.http.get(format!("{}{nowhere}?token={genuine}", world.url))).await;
        assert_eq!((nowhere.status, &nowhere.body), (foreign.status, &foreign.body));
        let signal = json!({"waitpoint_id": granted["waitpoint_id"], "waitpoint_token": genuine, "name": "go"});
        world.post(&mine.path("signals"), &signal).await.assert_refused(403, "invalid_token", None);
    }
}

#[tokio::test]
async fn a_token_is_good_on_every_server_of_the_store_until_it_expires() {
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let held = world.running("k").await;
    let (brief, lasting) = (json!({"expires_in_ms": 1_000}), json!({"expires_in_ms": 86_400_000}));
    let (brief, lasting) = (token(&world, &held, brief).await, token(&world, &held, lasting).await);
    world.stop().await;
    let restarted = keyed.asked_with(&admin).await;
    assert_eq!(read(&restarted, &held, &brief).await.status, 200);
    keyed.clock.advance(1_000);
    let later = keyed.asked_with(&admin).await;
    read(&later, &held, &brief).await.assert_refused(403, "token_expired", None);
    assert_eq!(read(&later, &held, &lasting).await.status, 200);
}

#[tokio::test]
async fn an_open_stream_sends_nothing_after_its_token_has_expired() {
    let world = World::start().await;
    let held = world.running("k").await;
    append(&world, &held, "before").await;
    let token = token(&world, &held, json!({"expires_in_ms": 1_500})).await;
    let made = Instant::now();
    let mut stream = follow(&world, &held, &token).await;
    let mut text = String::new();
    let expired = made + Duration::from_millis(1_600);
    while let Ok(chunk) = timeout_at(expired, stream.chunk()).await {
        text.push_str(str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    assert!(text.contains("before"), "{text}");
    append(&world, &held, "after").await;
    let rest = stream.text().await.unwrap();
    assert!(rest.contains("event: problem") && rest.contains("token_expired") && !rest.contains("after"), "{rest}");
}

#[tokio::test]
async fn a_token_under_a_new_secret_is_good_at_once_and_one_under_a_retired_secret_is_not() {
    let world = World::start().await;
    let held = world.running("k").await;
    let before = token(&world, &held, json!({})).await;
    assert_eq!(read(&world, &held, &before).await.status, 200);
    world.post("/v1/secrets/rotate", &json!({"kid": "k2", "secret_hex": "00".repeat(16), "grace_ms": 0})).await;
    let after = token(&world, &held, json!({})).await;
    assert_eq!(read(&world, &held, &after).await.status, 200);
    read(&world, &held, &before).await.assert_refused(403, "token_expired", None);
}

#[tokio::test]
async fn a_token_is_made_by_who_may_read_and_for_a_day_at_most() {
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    let held = world.running("k").await;
    let before = keyed.asked_with(&admin).await.contents().await;
    for refused in [0, 86_400_001] {
        let reply = world.post(&held.path("stream/token"), &json!({"expires_in_ms": refused})).await;
        reply.assert_refused(400, "invalid_input", Some("expires_in_ms"));
    }
    let nowhere = "/v1/executions/%7Bfp:1%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c/stream/token";
    world.post(nowhere, &json!({})).await.assert_refused(404, "execution_not_found", None);
    let stranger = keyed.asked_with(&keyed.tenant("other").await).await;
    stranger.post(&held.path("stream/token"), &json!({})).await.assert_refused(404, "execution_not_found", None);
    let signals = keyed.asked_with(&keyed.key(&[Role::Signal], Some("acme")).await).await;
    signals.post(&held.path("stream/token"), &json!({})).await.assert_refused(
        403,
        "unauthorized",
        Some("Authorization"),
    );
    assert!(world.contents().await == before, "something was written");
}

#[tokio::test]
async fn a_caller_that_guesses_tokens_is_rate_limited() {
    let world = World::start().await;
    let held = world.running("k").await;
    let guess = format!("k1:2000000000000:{}", "0".repeat(64));
    let mut guesses = 0;
    let held_back = loop {
        let reply = read(&world, &held, &guess).await;
        if reply.status != 403 {
            break reply;
        }
        guesses += 1;
        assert!(guesses < 1_000, "guessing goes on");
    };
    held_back.assert_refused(429, "rate_limit_exceeded", None);
}

#[tokio::test]
async fn a_token_is_in_no_line_of_the_log() {
    log::collect();
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let (held, other) = (world.running("k").await, world.running("k").await);
    let genuine = token(&world, &held, json!({})).await;
    assert_eq!(read(&world, &held, &genuine).await.status, 200);
    assert_eq!(read(&world, &other, &genuine).await.status, 403);
    let twice = world.request(Method::GET, &format!("{}?token={genuine}&token={genuine}", held.path("stream")));
    answer(twice).await.assert_refused(400, "invalid_input", Some("token"));
    let mac = genuine.rsplit(':').next().unwrap();
    let text = log::collected();
    assert!(text.contains("a token for a stream was made"), "the log was not read");
    assert!(!text.contains(mac), "{}", text.lines().find(|line| line.contains(mac)).unwrap());
}
