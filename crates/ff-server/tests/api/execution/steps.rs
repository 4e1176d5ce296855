//! Recorded steps over HTTP, as a worker in any language uses them.

use serde_json::{Value, json};

use crate::world::{LeasedExecution, Reply, World};

async fn record(world: &World, held: &LeasedExecution, body: Value) -> Reply {
    world.post(&held.path("steps"), &held.call(body)).await
}

/// Revokes the lease of an execution and claims it for another worker.
async fn claimed_again(world: &World, held: &LeasedExecution) -> LeasedExecution {
    world.post(&held.path("revoke"), &json!({})).await;
    world.claim_next().await
}

#[tokio::test]
async fn a_step_is_recorded_once_and_comes_with_the_next_claim() {
    let world = World::start().await;
    let held = world.running("k").await;
    assert!(held.0.get("steps").is_none() && held.0.get("steps_next").is_none(), "{}", held.0);
    let first = record(&world, &held, json!({"name": "charge", "result": {"id": "ch_1"}})).await;
    assert_eq!((first.status.as_u16(), &first.body), (200, &json!({"seq": 0, "duplicate": false})));
    let again = record(&world, &held, json!({"name": "charge", "result": {"id": "ch_2"}})).await;
    assert_eq!((&again.body["duplicate"], &again.body["step"]["result"]), (&json!(true), &json!({"id": "ch_1"})));
    let bytes = json!({"name": "item", "key": "1", "result_base64": "/wA=", "content_type": "image/png"});
    assert_eq!(record(&world, &held, bytes).await.body["seq"], 1);
    let failed = json!({"name": "mail", "failure": {"message": "no such mailbox", "permanent": true}});
    assert_eq!(record(&world, &held, failed).await.body["seq"], 2);
    assert_eq!(record(&world, &held, json!({"kind": "wait", "name": "charge"})).await.body["seq"], 3);

    let next = claimed_again(&world, &held).await;
    let steps = next.0["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert_eq!(
        (&steps[0]["kind"], &steps[0]["name"], &steps[0]["result"]),
        (&json!("step"), &json!("charge"), &json!({"id": "ch_1"}))
    );
    assert_eq!((&steps[1]["key"], &steps[1]["result_base64"]), (&json!("1"), &json!("/wA=")));
    assert_eq!((&steps[2]["failure"]["category"], steps[2].get("result")), (&json!("error"), None));
    assert_eq!((&steps[3]["kind"], &steps[3]["result"]), (&json!("wait"), &Value::Null));
    let listed = world.get(&format!("{}?limit=3", held.path("steps"))).await.body;
    assert_eq!((&listed["steps"], &listed["next"]), (&json!(steps[..3]), &json!(2)));
    let rest = world.get(&format!("{}?after=2", held.path("steps"))).await.body;
    assert_eq!((&rest["steps"], rest.get("next")), (&json!(steps[3..]), None));
    assert_eq!(held.info(&world).await["steps"], 4);
}

#[tokio::test]
async fn a_bad_step_is_refused_by_its_field() {
    let world = World::start().await;
    let held = world.running("k").await;
    let before = world.contents().await;
    for (body, status, code, field) in [
        (json!({}), 400, "invalid_input", Some("name")),
        (json!({"name": ""}), 400, "invalid_input", Some("name")),
        (json!({"name": "n".repeat(129)}), 400, "limit_exceeded", Some("name")),
        (json!({"name": "a", "key": "a\nb"}), 400, "invalid_input", Some("key")),
        (json!({"name": "a", "kind": "task"}), 400, "invalid_input", Some("kind")),
        (json!({"name": "a", "result": 1, "failure": {"message": "m"}}), 400, "invalid_input", Some("failure")),
        (json!({"name": "a", "failure": {"message": "m", "why": 1}}), 400, "unknown_field", Some("failure.why")),
        (json!({"name": "a", "result": "r".repeat(256 * 1024)}), 413, "payload_too_large", Some("result")),
    ] {
        record(&world, &held, body).await.assert_refused(status, code, field);
    }
    world.get(&format!("{}?limit=0", held.path("steps"))).await.assert_refused(400, "invalid_input", Some("limit"));
    world.get(&format!("{}?after=-1", held.path("steps"))).await.assert_refused(400, "invalid_input", Some("after"));
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn a_replay_begins_at_a_step_and_a_fork_before_one() {
    let world = World::start().await;
    let held = world.running("k").await;
    for name in ["a", "b", "c"] {
        record(&world, &held, json!({"name": name, "result": name})).await;
    }
    let forked = world.post(&held.path("fork"), &json!({"before_step": {"name": "c"}})).await;
    assert_eq!(
        (forked.status.as_u16(), &forked.body["steps"], &forked.body["duplicate"]),
        (200, &json!(2), &json!(false))
    );
    let fork = LeasedExecution(forked.body);
    assert_eq!(fork.info(&world).await["forked_from"], held.0["execution_id"]);
    let unknown = world.post(&held.path("fork"), &json!({"before_step": {"name": "d"}})).await;
    unknown.assert_refused(400, "invalid_input", Some("before_step"));

    world.post(&held.path("complete"), &held.call(json!({}))).await;
    let unknown = world.post(&held.path("replay"), &json!({"from_step": {"name": "d"}})).await;
    unknown.assert_refused(400, "invalid_input", Some("from_step"));
    assert_eq!(world.post(&held.path("replay"), &json!({"from_step": {"name": "b"}})).await.status, 200);
    let left = world.get(&held.path("steps")).await.body;
    assert_eq!(left["steps"].as_array().unwrap().iter().map(|step| &step["name"]).collect::<Vec<_>>(), [&json!("a")]);
}
