//! Batches of worker calls in one request.

use serde_json::{Value, json};

use crate::keyed::KeyedStore;
use crate::world::{LeasedExecution, World};

const BATCH: &str = "/v1/worker/batch";

fn call(call: &str, held: &LeasedExecution, body: Value) -> Value {
    json!({"call": call, "execution_id": held.0["execution_id"], "body": held.call(body)})
}

#[tokio::test]
async fn each_call_of_a_batch_is_answered_as_it_would_be_on_its_own() {
    let world = World::start().await;
    let budget = json!({"scope": "namespace", "limits": {"tokens": {"hard": 100}}});
    world.post("/v1/budgets/all", &budget).await;
    let mut held = Vec::new();
    for _ in 0..5 {
        held.push(world.running("work").await);
    }
    let mut stale = call("complete", &held[0], json!({}));
    stale["body"]["lease_epoch"] = json!(77);
    let mut nowhere = call("renew", &held[0], json!({}));
    nowhere["execution_id"] = json!("{fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c");
    let calls = [
        stale,
        call("complete", &held[0], json!({"result": {"n": 1}})),
        call("fail", &held[1], json!({"message": "broken", "permanent": true})),
        call("renew", &held[2], json!({"lease_ttl_ms": 60_000})),
        call("progress", &held[3], json!({"percent": 50})),
        call("delay", &held[4], json!({"delay_ms": 60_000})),
        call("steps", &held[3], json!({"name": "a", "result": [1]})),
        call("usage", &held[3], json!({"report_id": "a", "amounts": {"tokens": 5}})),
        nowhere,
        call("cancel", &held[3], json!({})),
        call("renew", &held[2], json!({"ttl": 1})),
        json!(5),
    ];
    let reply = world.post(BATCH, &json!({"calls": calls})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let results = reply.body["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [409, 200, 200, 200, 200, 200, 200, 200, 404, 400, 400, 400], "{results:#?}");
    assert_eq!(results[0]["body"]["code"], "stale_lease");
    assert_eq!(results[6]["body"], json!({"seq": 0, "duplicate": false}));
    assert_eq!(results[7]["body"]["budgets"][0]["remaining"], json!({"tokens": 95}), "{results:#?}");
    assert_eq!(results[10]["body"]["field"], "ttl");
    let end = world.get(&format!("{}?wait_ms=0", held[0].path("result"))).await;
    assert_eq!(end.body["result"], json!({"n": 1}), "{end:?}");
    let state = async |nth: usize| held[nth].info(&world).await["public_state"].clone();
    assert_eq!((state(1).await, state(2).await, state(4).await), (json!("failed"), json!("active"), json!("delayed")));
}

#[tokio::test]
async fn a_batch_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    let held = world.running("work").await;
    let batch = |count| json!({"calls": vec![call("renew", &held, json!({})); count]});
    let past = world.post(BATCH, &batch(1_001)).await;
    past.assert_refused(400, "limit_exceeded", Some("calls"));
    let at = world.post(BATCH, &batch(1_000)).await;
    assert_eq!(at.body["results"].as_array().map(Vec::len), Some(1_000), "{at:?}");
}

#[tokio::test]
async fn another_tenants_execution_is_not_there_in_a_batch() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let held = acme.running("work").await;
    let batch = json!({"calls": [call("complete", &held, json!({}))]});
    let reply = other.post(BATCH, &batch).await;
    assert_eq!(reply.body["results"][0]["body"]["code"], "execution_not_found", "{reply:?}");
    let own = acme.post(BATCH, &batch).await;
    assert_eq!(own.body["results"][0]["status"], 200, "{own:?}");
}
