//! Payload bytes are unchanged, in every encoding.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{LeasedExecution, World};

/// JSON whose meaning or formatting a careless parser would change.
const DELICATE: &[&str] = &[
    "null",
    "{ \"a\" :  [1,\t2 ] ,\n \"b\":{} }",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "1e400",
    "-0",
    "{\"k\":1,\"k\":2}",
    "\"\\u00e9 \\ud83d\\ude00 \\/\"",
    "\"\\ud800\"",
];

fn all_bytes() -> Vec<u8> {
    (0..=255).collect()
}

async fn raw(world: &World, path: &str) -> (String, Vec<u8>) {
    let response = world.request(Method::GET, path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-disposition"], "attachment");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    (content_type, response.bytes().await.unwrap().to_vec())
}

async fn claim_text(world: &World, kind: &str, encoding: &str) -> String {
    let body = json!({"worker_id": "w", "kinds": [kind], "encoding": encoding});
    let response = world.request(Method::POST, "/v1/workers/w-1/claim").json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

#[tokio::test]
async fn every_byte_arrives_at_the_worker_and_comes_back() {
    let world = World::start().await;
    let bytes = STANDARD.encode(all_bytes());
    let id = world.submit(&json!({"kind": "k", "payload_base64": bytes, "content_type": "image/png"})).await;
    let path = format!("/v1/executions/{id}/payload");
    assert_eq!(raw(&world, &path).await, ("image/png".to_owned(), all_bytes()));
    let view = world.get(&format!("{path}?encoding=json")).await;
    assert_eq!(view.body, json!({"payload_base64": bytes, "content_type": "image/png"}));

    let claimed = world.post("/v1/workers/w-1/claim", &json!({"worker_id": "w"})).await;
    let held = LeasedExecution(claimed.body["executions"][0].clone());
    assert_eq!((&held.0["payload_base64"], &held.0["content_type"]), (&json!(bytes), &json!("image/png")));
    let result = json!({"result_base64": held.0["payload_base64"], "content_type": "image/webp"});
    assert_eq!(world.post(&held.path("complete"), &held.call(result)).await.status, 200);
    let ended = world.get(&held.path("result")).await;
    assert_eq!((&ended.body["result_base64"], &ended.body["content_type"]), (&json!(bytes), &json!("image/webp")));
    assert_eq!(ended.body["outcome"], "success");
}

#[tokio::test]
async fn json_is_kept_byte_for_byte_all_the_way() {
    let world = World::start().await;
    for (nth, text) in DELICATE.iter().enumerate() {
        let kind = format!("k{nth}");
        let body = format!("{{\"kind\":\"{kind}\",\"payload\":  {text}\n}}");
        let id = world.post_text("/v1/executions", body).await.text("execution_id");
        let stored = raw(&world, &format!("/v1/executions/{id}/payload")).await;
        assert_eq!(stored, ("application/json".to_owned(), text.as_bytes().to_vec()));

        let claimed = claim_text(&world, &kind, "json").await;
        assert!(claimed.contains(&format!("\"payload\":{text}")), "{claimed}");
        let fence = fence_in(&claimed);
        let path = format!("/v1/executions/{id}/complete");
        let completed = world.post_text(&path, format!("{{{fence},\"result\": {text} }}")).await;
        assert_eq!(completed.status, 200, "{completed:?}");
        let path = format!("/v1/executions/{id}/result");
        let ended = world.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
        assert!(ended.contains(&format!("\"result\":{text}")), "{ended}");
    }
}

/// Returns the fields of the fence, cut out of the text: parsing could change the rest.
fn fence_in(claimed: &str) -> String {
    let from = claimed.find("\"lease_id\"").unwrap();
    let to = claimed.find(",\"namespace\"").unwrap();
    claimed[from..to].to_owned()
}

#[tokio::test]
async fn a_worker_may_ask_for_exact_bytes() {
    let world = World::start().await;
    world.submit(&json!({"kind": "k", "payload": {"a": 1}})).await;
    let claimed: Value = serde_json::from_str(&claim_text(&world, "k", "base64").await).unwrap();
    let execution = &claimed["executions"][0];
    assert_eq!(execution["payload_base64"], STANDARD.encode("{\"a\":1}"));
    assert_eq!(execution["content_type"], "application/json");
    assert!(execution.get("payload").is_none());
}

#[tokio::test]
async fn bytes_that_only_call_themselves_json_travel_as_bytes() {
    let world = World::start().await;
    let bytes = STANDARD.encode("{ not json");
    world.submit(&json!({"kind": "k", "payload_base64": bytes, "content_type": "application/json"})).await;
    let claimed: Value = serde_json::from_str(&claim_text(&world, "k", "json").await).unwrap();
    assert_eq!(claimed["executions"][0]["payload_base64"], bytes);
}

#[tokio::test]
async fn no_payload_is_no_bytes_and_no_result_is_none() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let stored = raw(&world, &format!("/v1/executions/{id}/payload")).await;
    assert_eq!(stored, ("application/octet-stream".to_owned(), Vec::new()));
    let claimed = world.post("/v1/workers/w-1/claim", &json!({"worker_id": "w"})).await;
    let held = LeasedExecution(claimed.body["executions"][0].clone());
    world.post(&held.path("complete"), &held.call(json!({}))).await;
    let ended = world.get(&held.path("result")).await;
    assert!(ended.body.get("result").is_none() && ended.body.get("result_base64").is_none(), "{ended:?}");
}
