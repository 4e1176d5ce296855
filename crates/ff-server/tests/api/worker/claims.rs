//! The worker protocol: a worker in any language needs only HTTP.

use serde_json::json;

use crate::world::{LeasedExecution, World};

#[tokio::test]
async fn a_claim_hands_out_all_a_worker_needs() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "resize", "payload": {"w": 640}, "priority": 3, "tags": {"a": "b"}})).await;
    let claimed = world.post("/v1/workers/w-1/claim", &json!({"worker_id": "w", "lease_ttl_ms": 5_000})).await;
    let task = &claimed.body["executions"][0];
    assert_eq!(
        (&task["execution_id"], &task["kind"], &task["payload"]),
        (&json!(id), &json!("resize"), &json!({"w": 640}))
    );
    assert_eq!((&task["priority"], &task["tags"]), (&json!(3), &json!({"a": "b"})));
    assert_eq!((&task["lease_epoch"], &task["lease_ttl_ms"]), (&json!(1), &json!(5_000)));
    assert_eq!((&task["attempt_index"], &task["attempt"]), (&json!(0), &json!({"type": "initial"})));
    assert!(task["lease_id"].is_string() && task["attempt_id"].is_string());
    let info = world.get(&format!("/v1/executions/{id}")).await.body;
    assert_eq!(info["lease"]["worker_instance_id"], "w-1");
    assert!(info["lease"].get("lease_id").is_none(), "only the holder knows its lease");
}

#[tokio::test]
async fn a_claim_takes_only_what_it_names_and_as_much_as_it_says() {
    let world = World::start().await;
    for nth in 0..3 {
        world.submit(&json!({"kind": "a", "lane": "one", "payload": nth})).await;
        world.submit(&json!({"kind": "b", "lane": "two", "payload": nth})).await;
    }
    let claim =
        async |body| world.post("/v1/workers/w-1/claim", &body).await.body["executions"].as_array().unwrap().len();
    assert_eq!(claim(json!({"worker_id": "w", "max": 9})).await, 0, "the lane default has nothing");
    assert_eq!(claim(json!({"worker_id": "w", "lanes": ["one"], "kinds": ["b"], "max": 9})).await, 0);
    assert_eq!(claim(json!({"worker_id": "w", "lanes": ["one"], "namespace": "acme", "max": 9})).await, 0);
    let mut taken = 0;
    while taken < 6 {
        let more = claim(json!({"worker_id": "w", "lanes": ["one", "two"], "kinds": ["a", "b"], "max": 2})).await;
        assert!((1..=2).contains(&more));
        taken += more;
    }
    assert_eq!(claim(json!({"worker_id": "w", "lanes": ["one", "two"], "max": 9})).await, 0);
}

#[tokio::test]
async fn a_claim_of_one_partition_says_whether_executions_are_left() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let partition: u16 = id[4..5].parse().unwrap();
    let mut later = world.submit(&json!({"kind": "k"})).await;
    while later[..6] != id[..6] {
        later = world.submit(&json!({"kind": "k"})).await;
    }
    let claim = async |partition| {
        let body = json!({"worker_id": "w", "partition": partition, "kinds": ["k"]});
        world.post("/v1/workers/w-1/claim", &body).await.body
    };
    let first = claim(partition).await;
    assert_eq!(first["executions"][0]["execution_id"], json!(id), "the oldest goes first");
    assert!(first["next"]["created_at"].is_i64(), "another waits: {first}");
    let second = claim(partition).await;
    assert_eq!(second["executions"][0]["execution_id"], json!(later));
    assert!(second.get("next").is_none(), "nothing is left: {second}");
    assert_eq!(claim(partition).await, json!({"executions": []}));
}

#[tokio::test]
async fn a_holder_renews_reports_and_completes() {
    let world = World::start().await;
    let held = world.running("k").await;
    let renewed = world.post(&held.path("renew"), &held.call(json!({"lease_ttl_ms": 60_000}))).await;
    assert!(renewed.body["lease_expires_at"].as_i64() > held.0["lease_expires_at"].as_i64());
    let reply = world.post(&held.path("progress"), &held.call(json!({"percent": 40, "message": "half"}))).await;
    assert_eq!(reply.status, 200);
    let info = held.info(&world).await;
    assert_eq!((&info["progress"]["percent"], &info["progress"]["message"]), (&json!(40), &json!("half")));

    world.get(&held.path("result")).await.assert_refused(409, "execution_not_terminal", None);
    let completed = world.post(&held.path("complete"), &held.call(json!({"result": {"ok": true}}))).await;
    assert_eq!(completed.body, json!({"public_state": "completed"}));
    let before = world.contents().await;
    let again = world.post(&held.path("complete"), &held.call(json!({"result": {"ok": true}}))).await;
    assert_eq!((again.status.as_u16(), again.body), (200, json!({"public_state": "completed"})));
    assert!(world.contents().await == before, "a repeated call wrote something");
    let ended = world.get(&held.path("result")).await.body;
    assert_eq!((&ended["outcome"], &ended["result"]), (&json!("success"), &json!({"ok": true})));
    assert_eq!(ended["finished_by"], json!({"type": "holder"}));
    assert!(ended["finished_at"].is_i64());
}

#[tokio::test]
async fn a_failure_is_tried_again_or_ends_it() {
    let world = World::start().await;
    let held = world.running("once").await;
    let retried = world.post(&held.path("fail"), &held.call(json!({"message": "m"}))).await;
    assert_eq!(retried.body["outcome"], "retry_scheduled");
    assert!(retried.body["retry_at"].is_i64());
    let held = world.running("never").await;
    let failed = held.call(json!({"message": "m", "category": "bad_input", "permanent": true}));
    assert_eq!(world.post(&held.path("fail"), &failed).await.body, json!({"outcome": "failed"}));
    let ended = world.get(&held.path("result")).await.body;
    assert_eq!(ended["outcome"], "failed");
    assert_eq!(ended["failure"], json!({"category": "bad_input", "message": "m", "permanent": true}));
    let attempts = world.get(&held.path("attempts")).await.body;
    assert_eq!(attempts["attempts"][0]["end"]["outcome"], "failure");
}

#[tokio::test]
async fn a_delayed_execution_continues_as_the_same_attempt() {
    let world = World::start().await;
    let held = world.running("k").await;
    let delayed = world.post(&held.path("delay"), &held.call(json!({}))).await;
    assert!(delayed.body["until"].is_i64(), "{delayed:?}");
    let LeasedExecution(task) = world.claim_next().await;
    assert_eq!((&task["resumed"], &task["attempt_id"]), (&json!(true), &held.0["attempt_id"]));
    assert_eq!(task["lease_epoch"], 2);
}

#[tokio::test]
async fn people_can_cancel_revoke_and_replay_with_or_without_a_body() {
    let world = World::start().await;
    let held = world.running("k").await;
    let empty = |path: String| crate::world::answer(world.request(reqwest::Method::POST, &path));
    let revoked = empty(held.path("revoke")).await;
    assert_eq!(revoked.body, json!({"lease_epoch": 1, "already": false}));
    world.post(&held.path("renew"), &held.call(json!({}))).await.assert_refused(409, "lease_revoked", None);
    let cancelled = world.post(&held.path("cancel"), &json!({"reason": "no longer", "requested_by": "ada"})).await;
    assert_eq!(cancelled.body, json!({"public_state": "cancelled", "already": false}));
    assert_eq!(empty(held.path("cancel")).await.body["already"], true);
    let ended = world.get(&held.path("result")).await.body;
    assert_eq!(ended["finished_by"], json!({"type": "cancel", "reason": "no longer", "requested_by": "ada"}));
    let replayed = empty(held.path("replay")).await;
    assert_eq!(replayed.body, json!({"public_state": "waiting", "replays": 1}));
    let refused = empty(held.path("replay")).await;
    refused.assert_refused(409, "execution_not_terminal", None);
    assert_eq!(refused.body["state"], "waiting");
}

#[tokio::test]
async fn a_late_holder_is_refused_and_changes_nothing() {
    let world = World::start().await;
    let slow = world.running("k").await;
    world.post(&slow.path("revoke"), &json!({})).await;
    let fast = world.claim_next().await;
    let before = world.contents().await;
    for (verb, body) in [
        ("renew", json!({})),
        ("progress", json!({})),
        ("frames", json!({"frames": [{"text": "a"}]})),
        ("steps", json!({"name": "a"})),
        ("complete", json!({})),
        ("fail", json!({"message": "m"})),
        ("delay", json!({})),
    ] {
        world.post(&slow.path(verb), &slow.call(body)).await.assert_refused(409, "stale_lease", None);
    }
    assert!(world.contents().await == before);
    assert_eq!(world.post(&fast.path("complete"), &fast.call(json!({}))).await.status, 200);
}
