//! The authors of decisions, holds, cancellations and replays made with a key of one namespace.

use serde_json::{Value, json};

use crate::keyed::KeyedStore;
use crate::world::World;

async fn changed(world: &World, path: &str, body: &Value) {
    let reply = world.post(path, body).await;
    assert_eq!(reply.status, 200, "{path}: {reply:?}");
}

/// The author of a hold, a cancellation or a replay is the name of the key, unless the caller gives one.
#[tokio::test]
async fn operator_actions_record_the_name_of_the_key() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    for (sent, name) in [(json!({}), "a test"), (json!({"requested_by": "ada"}), "ada")] {
        let held = world.running("k").await;
        changed(&world, &held.path("hold"), &sent).await;
        assert_eq!(held.info(&world).await["hold"]["requested_by"], name);
        changed(&world, &held.path("release"), &json!({})).await;
        changed(&world, &held.path("cancel"), &sent).await;
        assert_eq!(held.info(&world).await["finished_by"]["requested_by"], name);
        let flow = world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": "member"}}})).await;
        changed(&world, &format!("/v1/flows/{flow}/cancel"), &sent).await;
        assert_eq!(world.get(&format!("/v1/flows/{flow}")).await.body["cancel"]["requested_by"], name);
        let waiting = world.submit(&json!({"kind": "bulk"})).await;
        let mut bulk = sent.clone();
        bulk["action"] = json!("hold");
        bulk["kind"] = json!("bulk");
        changed(&world, "/v1/executions/bulk", &bulk).await;
        let path = format!("/v1/executions/{waiting}");
        assert_eq!(world.get(&path).await.body["hold"]["requested_by"], name);
        changed(&world, "/v1/executions/bulk", &json!({"action": "release", "kind": "bulk"})).await;
        changed(&world, &format!("{path}/cancel"), &sent).await;
    }
}

/// A key of one namespace reads the decisions of that namespace only.
#[tokio::test]
async fn a_tenant_reads_only_its_own_decisions() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    let mut decided = Vec::new();
    for (verb, sent) in [("approve", json!({})), ("reject", json!({"requested_by": "ada"}))] {
        let held = world.running("k").await;
        held.suspended(&world, "a").await;
        changed(&world, &held.path(verb), &sent).await;
        decided.push(held.0["execution_id"].clone());
        keyed.clock.advance(1);
    }
    let page = world.get("/v1/decisions").await.body;
    let entry = |nth: usize| {
        let one = &page["decisions"][nth];
        json!([one["decision"], one["source"], one["execution_id"]])
    };
    let operator = |name: &str| json!({"type": "operator", "identity": name});
    assert_eq!(entry(0), json!(["rejected", operator("ada"), decided[1]]));
    assert_eq!(entry(1), json!(["approved", operator("a test"), decided[0]]));
    assert_eq!((page["decisions"].as_array().map(Vec::len), &page["more"]), (Some(2), &json!(false)));
    let one = world.get("/v1/decisions?limit=1").await.body;
    assert_eq!((&one["decisions"], &one["more"]), (&json!([page["decisions"][0]]), &json!(true)));
    world.get("/v1/decisions?namespace=other").await.assert_refused(403, "unauthorized", Some("namespace"));
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    assert_eq!(other.get("/v1/decisions").await.body["decisions"], json!([]));
}

/// The decisions of a week are listed: a longer span is read when a shorter one has too few.
#[tokio::test]
async fn decisions_of_a_week_are_listed() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    let held = world.running("k").await;
    held.suspended(&world, "a").await;
    changed(&world, &held.path("approve"), &json!({})).await;
    for (later, count) in [(0, 1), (30_000, 1), (600_000, 1), (6 * 86_400_000, 1), (86_400_000, 0)] {
        keyed.clock.advance(later);
        let page = world.get("/v1/decisions").await.body;
        assert_eq!(page["decisions"].as_array().map(Vec::len), Some(count), "{later} later: {page}");
    }
}
