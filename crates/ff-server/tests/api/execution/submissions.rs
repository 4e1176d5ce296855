//! Submitting: new executions, duplicates, and batches with a result for each submission.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, answer};

async fn keyed(world: &World, key: &str, body: Value) -> Reply {
    answer(world.request(Method::POST, "/v1/executions").header("Idempotency-Key", key).json(&body)).await
}

#[tokio::test]
async fn a_new_execution_says_where_it_is() {
    let world = World::start().await;
    let reply = world.post("/v1/executions", &json!({"kind": "k"})).await;
    assert_eq!((reply.status.as_u16(), &reply.body["duplicate"]), (201, &json!(false)));
    assert_eq!(reply.body["public_state"], "waiting");
    let location = reply.headers["location"].to_str().unwrap();
    assert!(!location.contains('{'), "{location}");
    let found = world.get(location).await;
    assert_eq!(found.body["execution_id"], reply.body["execution_id"]);
}

#[tokio::test]
async fn the_same_key_is_the_same_execution_by_header_or_by_field() {
    let world = World::start().await;
    let body = json!({"kind": "k", "payload": 1});
    let first = keyed(&world, "order 17", body.clone()).await;
    assert_eq!(first.status, 201);
    let before = world.contents().await;
    let again = keyed(&world, "order 17", body.clone()).await;
    let by_field =
        world.post("/v1/executions", &json!({"kind": "k", "payload": 1, "idempotency_key": "order 17"})).await;
    let by_both = keyed(&world, "order 17", json!({"kind": "k", "payload": 1, "idempotency_key": "order 17"})).await;
    for repeat in [again, by_field, by_both] {
        assert_eq!((repeat.status.as_u16(), &repeat.body["duplicate"]), (200, &json!(true)));
        assert_eq!(repeat.body["execution_id"], first.body["execution_id"]);
        assert_eq!(repeat.headers["location"], first.headers["location"]);
    }
    keyed(&world, "order 17", json!({"kind": "k", "payload": 2})).await.assert_refused(
        409,
        "idempotency_conflict",
        Some("idempotency_key"),
    );
    keyed(&world, "order 18", json!({"kind": "k", "idempotency_key": "order 17"})).await.assert_refused(
        400,
        "invalid_input",
        Some("idempotency_key"),
    );
    keyed(&world, "", json!({"kind": "k"})).await.assert_refused(400, "invalid_input", Some("Idempotency-Key"));
    let twice = world.request(Method::POST, "/v1/executions").header("Idempotency-Key", "a");
    let twice = answer(twice.header("Idempotency-Key", "b").json(&body)).await;
    twice.assert_refused(400, "invalid_input", Some("Idempotency-Key"));
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn the_same_uuid_is_the_same_execution() {
    let world = World::start().await;
    let uuid = uuid::Uuid::now_v7().to_string();
    let first = world.post("/v1/executions", &json!({"kind": "k", "uuid": uuid})).await;
    let again = world.post("/v1/executions", &json!({"kind": "k", "uuid": uuid})).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.body["execution_id"], again.body["execution_id"]);
    assert!(first.text("execution_id").ends_with(&uuid));
}

#[tokio::test]
async fn every_field_is_honoured() {
    let world = World::start().await;
    let id = world
        .submit(&json!({
            "kind": "resize", "namespace": "acme", "lane": "images", "priority": 7, "tags": {"customer": "für Zoë"},
            "start_at": 4_102_444_800_000_i64, "policy": {"max_reclaim_count": 3}, "idempotency_key": "a",
        }))
        .await;
    let info = world.get(&format!("/v1/executions/{id}")).await.body;
    assert_eq!(
        (&info["kind"], &info["namespace"], &info["lane_id"]),
        (&json!("resize"), &json!("acme"), &json!("images"))
    );
    assert_eq!((&info["priority"], &info["tags"]), (&json!(7), &json!({"customer": "für Zoë"})));
    assert_eq!((&info["public_state"], &info["delayed_until"]), (&json!("delayed"), &json!(4_102_444_800_000_i64)));
    assert_eq!((&info["policy"]["max_reclaim_count"], &info["idempotency_key"]), (&json!(3), &json!("a")));
    let soon = world.submit(&json!({"kind": "k", "delay_ms": 60_000})).await;
    assert_eq!(world.get(&format!("/v1/executions/{soon}")).await.body["public_state"], "delayed");
    let past = world.submit(&json!({"kind": "k", "start_at": 1})).await;
    assert_eq!(world.get(&format!("/v1/executions/{past}")).await.body["public_state"], "waiting");
}

#[tokio::test]
async fn each_of_a_batch_has_its_own_outcome_in_order() {
    let world = World::start().await;
    world.submit(&json!({"kind": "a", "payload": 1, "idempotency_key": "old"})).await;
    let batch = json!({"executions": [
        {"kind": "a", "payload": 1, "idempotency_key": "new"},
        {"knd": "a"},
        {"kind": "a", "payload": 1, "idempotency_key": "old"},
        {"kind": "a", "payload": 2, "idempotency_key": "old"},
        5,
        {"kind": "a", "policy": {"max_replay_count": -1}},
        {"kind": "b"},
    ]});
    let reply = world.post("/v1/executions/batch", &batch).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let results = reply.body["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 400, 200, 409, 400, 400, 201]);
    assert_eq!(results[1]["error"]["code"], "unknown_field");
    assert_eq!(results[1]["error"]["field"], "knd");
    assert_eq!(results[2]["duplicate"], true);
    assert_eq!(results[3]["error"]["code"], "idempotency_conflict");
    assert_eq!(results[5]["error"]["field"], "policy.max_replay_count");
    assert!(results[6]["execution_id"].is_string());
    assert_eq!(world.get("/v1/executions").await.body["executions"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_batch_takes_no_key_for_all_of_it() {
    let world = World::start().await;
    let request = world.request(Method::POST, "/v1/executions/batch").header("Idempotency-Key", "a");
    let refused = answer(request.json(&json!({"executions": []}))).await;
    refused.assert_refused(400, "invalid_input", Some("Idempotency-Key"));
    let empty = world.post("/v1/executions/batch", &json!({"executions": []})).await;
    assert_eq!((empty.status.as_u16(), empty.body), (200, json!({"results": []})));
}
