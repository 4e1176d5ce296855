//! Suspending and deciding over HTTP: the calls of a worker in any language, and those of an operator.

use serde_json::{Value, json};

use crate::world::{LeasedExecution, World};

/// Returns a signal: the granted waitpoint, with more fields.
fn signal(granted: &Value, body: Value) -> Value {
    let mut signal = granted.clone();
    signal.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    signal
}

#[tokio::test]
async fn a_suspended_execution_continues_after_its_signal() {
    let world = World::start().await;
    let held = world.running("order").await;
    let body = json!({
        "waitpoints": [{"key": "paid"}],
        "condition": {"type": "signal", "waitpoint": "paid", "name": "paid"},
        "reason": "waiting_for_callback",
        "continuation": "page 7",
    });
    let granted = held.suspend(&world, body).await["waitpoints"][0].clone();
    assert_eq!(granted["waitpoint_key"], "paid");
    let listed = world.get("/v1/executions?state=suspended").await.body["executions"][0].clone();
    let suspension = &listed["suspension"];
    assert_eq!((&listed["kind"], &suspension["reason"]), (&json!("order"), &json!("waiting_for_callback")));
    assert!(suspension["suspended_at"].is_i64(), "{listed}");
    assert!(!listed.to_string().contains(granted["waitpoint_token"].as_str().unwrap()), "a listing shows no token");

    let delivered =
        world.post(&held.path("signals"), &signal(&granted, json!({"name": "paid", "payload": {"n": 5}}))).await;
    assert_eq!((delivered.status.as_u16(), &delivered.body["effect"]), (200, &json!("resume_condition_satisfied")));
    let LeasedExecution(task) = world.claim_next().await;
    assert_eq!((&task["resumed"], &task["attempt_id"]), (&json!(true), &held.0["attempt_id"]));
    assert_eq!((&task["resumption"]["by"], &task["resumption"]["continuation"]), (&json!("signals"), &json!("page 7")));
    let first_signal = &task["signals"][0];
    assert_eq!((&first_signal["id"], &first_signal["payload"]), (&delivered.body["signal_id"], &json!({"n": 5})));
    assert_eq!(first_signal["source"], json!({"type": "external"}));
}

#[tokio::test]
async fn a_repeated_suspend_returns_the_first_reply() {
    let world = World::start().await;
    let held = world.running("k").await;
    let body = json!({"waitpoints": [{"key": "a"}]});
    let first = held.suspend(&world, body.clone()).await;
    let before = world.contents().await;
    assert_eq!(held.suspend(&world, body).await, first);
    assert!(world.contents().await == before, "a repeated call wrote something");
}

#[tokio::test]
async fn a_waitpoint_made_ahead_keeps_what_comes_early() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.ahead(&world, "paid").await;
    assert_eq!(held.ahead(&world, "paid").await, granted, "asked again it is the same");
    let early = world.post(&held.path("signals"), &signal(&granted, json!({"name": "paid"}))).await;
    assert_eq!(early.body["effect"], "buffered_for_pending_waitpoint");
    let open = world.get(&held.path("waitpoints")).await.body;
    assert_eq!((&open["waitpoints"][0]["state"], &open["waitpoints"][0]["buffered"]), (&json!("pending"), &json!(1)));
    assert!(!open.to_string().contains(granted["waitpoint_token"].as_str().unwrap()));
    let body = json!({"waitpoints": [{"key": "paid", "id": granted["waitpoint_id"]}]});
    let satisfied = world.post(&held.path("suspend"), &held.call(body)).await.body;
    assert_eq!(
        (&satisfied["outcome"], &satisfied["signals"][0]),
        (&json!("already_satisfied"), &early.body["signal_id"])
    );
    assert_eq!(world.post(&held.path("complete"), &held.call(json!({}))).await.status, 200, "the lease was kept");
}

#[tokio::test]
async fn an_operator_decides_without_a_token_and_may_repeat_it() {
    let world = World::start().await;
    for (verb, name) in [("resume", "resumed"), ("approve", "approved"), ("reject", "rejected")] {
        let held = world.running(verb).await;
        held.suspended(&world, "a").await;
        let decision = json!({"requested_by": "ada", "reason": "looked at it", "payload": {"comment": "fine"}});
        let decided = world.post(&held.path(verb), &decision).await;
        assert_eq!((decided.status.as_u16(), &decided.body["public_state"]), (200, &json!("waiting")));
        assert_eq!(decided.body["already"], false);
        assert_eq!(world.post(&held.path(verb), &json!({})).await.body["already"], true);
        let LeasedExecution(task) = world.claim_next().await;
        assert_eq!(task["resumption"]["by"], "operator");
        let first_signal = &task["signals"][0];
        assert_eq!((&first_signal["name"], &first_signal["payload"]), (&json!(name), &json!({"comment": "fine"})));
        assert_eq!(first_signal["source"], json!({"type": "operator", "identity": "ada"}));
        world.post(&held.path("cancel"), &json!({})).await;
    }
    let held = world.running("k").await;
    let refused = world.post(&held.path("approve"), &json!({})).await;
    refused.assert_refused(409, "execution_not_suspended", None);
    assert_eq!(refused.body["state"], "active");
}

#[tokio::test]
async fn a_decision_about_another_suspension_is_refused() {
    let world = World::start().await;
    let held = world.running("k").await;
    let first = held.suspend(&world, json!({"waitpoints": [{"key": "a"}]})).await;
    world.post(&held.path("resume"), &json!({"suspension_id": first["suspension_id"]})).await;
    let again = world.claim_next().await;
    again.suspended(&world, "a").await;
    let decision = json!({"suspension_id": first["suspension_id"]});
    world.post(&held.path("approve"), &decision).await.assert_refused(409, "execution_not_suspended", None);
    assert_eq!(world.post(&held.path("resume"), &decision).await.body["already"], true);
}

#[tokio::test]
async fn a_pending_waitpoint_can_be_closed() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.ahead(&world, "a").await;
    let id = granted["waitpoint_id"].as_str().unwrap();
    let close = held.path(&format!("waitpoints/{id}/close"));
    assert_eq!(world.post(&close, &json!({"reason": "r"})).await.body, json!({"already": false}));
    assert_eq!(world.post(&close, &json!({})).await.body, json!({"already": true}));
    let late = world.post(&held.path("signals"), &signal(&granted, json!({"name": "n"}))).await;
    late.assert_refused(409, "waitpoint_closed", None);
    let nowhere = held.path("waitpoints/018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c");
    world.post(&format!("{nowhere}/close"), &json!({})).await.assert_refused(404, "waitpoint_not_found", None);
    world.get(&format!("{nowhere}/token")).await.assert_refused(404, "waitpoint_not_found", None);
    world.get(&held.path("waitpoints/nope/token")).await.assert_refused(400, "invalid_input", Some("waitpoint_id"));
}

#[tokio::test]
async fn an_operator_can_read_a_token_that_no_cache_keeps() {
    let world = World::start().await;
    let held = world.running("k").await;
    let granted = held.suspended(&world, "a").await;
    let id = granted["waitpoint_id"].as_str().unwrap();
    let reply = world.get(&held.path(&format!("waitpoints/{id}/token"))).await;
    assert_eq!(reply.body, json!({"waitpoint_token": granted["waitpoint_token"]}));
    assert_eq!(reply.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn suspended_executions_are_listed_in_pages() {
    let world = World::start().await;
    for _ in 0..3 {
        world.running("k").await.suspended(&world, "a").await;
    }
    world.running("other").await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/v1/executions?state=suspended&limit=2{cursor}")).await.body;
        seen.extend(page["executions"].as_array().unwrap().iter().map(|info| info["kind"].clone()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ["k", "k", "k"]);
}
