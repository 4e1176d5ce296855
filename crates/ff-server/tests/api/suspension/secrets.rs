//! Secrets over HTTP: a new secret is installed on every partition, and no response contains one.

use serde_json::json;

use crate::world::{PARTITIONS, World};

#[tokio::test]
async fn a_secret_is_rotated_everywhere_and_only_its_name_is_shown() {
    let world = World::start().await;
    let before = world.get("/v1/secrets").await.body;
    assert_eq!(before["partitions"].as_array().unwrap().len(), usize::from(PARTITIONS));
    assert_eq!(before["partitions"][0], json!({"partition": 0, "current_kid": "k1", "verifying": []}));

    let rotate = json!({"kid": "k2", "secret_hex": "C0FFEE0ddBa11C0FFEE0ddBa11C0FFEE0ddBa11", "grace_ms": 60_000});
    world.post("/v1/secrets/rotate", &rotate).await.assert_refused(400, "invalid_secret_hex", Some("secret_hex"));
    let rotate = json!({"kid": "k2", "secret_hex": "C0FFEE0ddBa115C0FFEE0ddBa115C0FFEE0ddBa115", "grace_ms": 60_000});
    let report = world.post("/v1/secrets/rotate", &rotate).await.body;
    let first = json!({"partition": 0, "outcome": "rotated", "previous_kid": "k1", "new_kid": "k2", "gc_count": 0});
    assert_eq!((&report["rotated"][0], &report["failed"]), (&first, &json!([])));
    let again = world.post("/v1/secrets/rotate", &rotate).await.body;
    assert_eq!(again["rotated"][3], json!({"partition": 3, "outcome": "noop", "kid": "k2"}));
    let other = json!({"kid": "k2", "secret_hex": "00".repeat(16)});
    let conflict = world.post("/v1/secrets/rotate", &other).await.body;
    assert_eq!(conflict["failed"][0]["error"]["code"], "rotation_conflict");

    let after = world.get("/v1/secrets").await.body;
    assert_eq!(after["partitions"][2]["current_kid"], "k2");
    assert_eq!(after["partitions"][2]["verifying"][0]["kid"], "k1");
    for answer in [report, again, conflict, after] {
        assert!(!answer.to_string().to_lowercase().contains("c0ffee"), "{answer}");
    }
}

#[tokio::test]
async fn a_token_lives_on_through_a_rotation_for_its_grace_and_not_longer() {
    let world = World::start().await;
    let (early, cut) = (world.running("kept").await, world.running("cut").await);
    let (early_by, cut_by) = (early.suspended(&world, "a").await, cut.suspended(&world, "a").await);
    let signal = |granted: &serde_json::Value| json!({"waitpoint_id": granted["waitpoint_id"], "waitpoint_token": granted["waitpoint_token"], "name": "n"});
    world.post("/v1/secrets/rotate", &json!({"kid": "k2", "secret_hex": "00".repeat(16), "grace_ms": 60_000})).await;
    assert_eq!(world.post(&early.path("signals"), &signal(&early_by)).await.status, 200);
    world.post("/v1/secrets/rotate", &json!({"kid": "k3", "secret_hex": "01".repeat(16), "grace_ms": 0})).await;
    assert_eq!(world.post(&cut.path("signals"), &signal(&cut_by)).await.status, 200, "its own grace is the first one");
    let late = world.running("late").await;
    let late_by = late.suspended(&world, "a").await;
    world.post("/v1/secrets/rotate", &json!({"kid": "k4", "secret_hex": "02".repeat(16), "grace_ms": 0})).await;
    world.post(&late.path("signals"), &signal(&late_by)).await.assert_refused(403, "token_expired", None);
}
