//! The limits of concurrent requests and of requests per second of one caller. A refused caller is told when to retry.

use std::num::NonZeroU32;
use std::sync::Arc;

use ff_core::api_key::Role;
use ff_server::Limits;
use reqwest::Method;
use serde_json::json;

use crate::keyed::KeyedStore;
use crate::world::{World, answer};

#[tokio::test]
async fn past_its_limit_a_server_says_when_to_ask_again_and_that_it_lives() {
    let limits = Limits { in_flight: 0, ..Limits::default() };
    let world = World::within(limits).await;
    let with_body = answer(world.request(Method::GET, "/v1/partitions").body("{}")).await;
    let submitted = world.post("/v1/executions", &json!({"kind": "k"})).await;
    for refused in [world.get("/v1/partitions").await, with_body, submitted] {
        refused.assert_refused(503, "overloaded", None);
        assert_eq!(refused.headers["retry-after"], "1");
    }
    assert_eq!(world.get("/healthz").await.status, 200);
    assert_eq!(world.get("/readyz").await.status, 200);
    let claimed = world.post("/v1/workers/w-1/claim", &json!({"worker_id": "w"})).await;
    assert_eq!(claimed.status, 200, "what may wait is counted apart: {claimed:?}");
}

#[tokio::test]
async fn waiting_workers_do_not_block_submissions() {
    let limits = Limits { in_flight: 1, waiting: 2, rate: None, ..Limits::default() };
    let world = Arc::new(World::within(limits).await);
    let wait = |nth: u8| {
        let world = world.clone();
        let claim = json!({"worker_id": "w", "kinds": ["k"], "wait_ms": 60_000});
        tokio::spawn(async move { world.post(&format!("/v1/workers/w-{nth}/claim"), &claim).await })
    };
    let waiting = [wait(1), wait(2)];
    let refused = loop {
        let reply = world.post("/v1/workers/w-3/claim", &json!({"worker_id": "w"})).await;
        if reply.status != 200 {
            break reply;
        }
    };
    refused.assert_refused(503, "overloaded", None);
    for _ in 0..2 {
        world.submit(&json!({"kind": "k"})).await;
    }
    for claimed in waiting {
        assert_eq!(claimed.await.unwrap().body["executions"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn each_key_may_ask_so_often() {
    let (keyed, admin) = KeyedStore::new().await;
    let limits = Limits { rate: NonZeroU32::new(3), ..Limits::default() };
    let mut world = World::over_within(keyed.store.clone(), limits).await;
    world.key = Some(admin);
    let mut count = 0;
    let refused = loop {
        let reply = world.get("/v1/partitions").await;
        if reply.status != 200 {
            break reply;
        }
        count += 1;
    };
    assert!(count >= 3, "only {count} requests were answered");
    refused.assert_refused(429, "rate_limit_exceeded", None);
    assert_eq!(refused.headers["retry-after"], "1");
    world.key = Some(keyed.key(&[Role::Operate], None).await);
    assert_eq!(world.get("/v1/partitions").await.status, 200, "another key has an allowance of its own");
}

/// A refused caller has cost the server a check of its key, so its requests count like all others.
#[tokio::test]
async fn callers_that_are_refused_count_toward_the_rate() {
    let (keyed, admin) = KeyedStore::new().await;
    let limits = Limits { rate: NonZeroU32::new(3), ..Limits::default() };
    let world = World::over_within(keyed.store.clone(), limits).await;
    let mut statuses = Vec::new();
    while statuses.last() != Some(&429) && statuses.len() < 20 {
        statuses.push(world.get("/v1/partitions").await.status.as_u16());
    }
    assert!(statuses.len() > 3 && statuses[..statuses.len() - 1].iter().all(|status| *status == 401), "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert_eq!(answer(world.request_with(&admin, "/v1/partitions")).await.status, 200, "a proven key is not held back");
}

#[tokio::test]
async fn json_that_is_too_deep_is_refused_where_the_server_parses_it() {
    let world = World::start().await;
    let deep = |times: usize| format!("{}{}", "[".repeat(times), "]".repeat(times));
    let read = world.post_text("/v1/executions", format!("{{\"kind\":\"k\",\"policy\":{}}}", deep(100_000))).await;
    assert_eq!(read.status, 400, "{read:?}");
    let passed_on =
        world.post_text("/v1/executions", format!("{{\"kind\":\"k\",\"payload\":{}}}", deep(100_000))).await;
    assert_eq!(passed_on.status, 201, "{passed_on:?}");
}
