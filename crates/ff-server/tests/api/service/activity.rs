//! The activity of the last hour.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_server::Metrics;
use serde_json::json;

use crate::keyed::KeyedStore;
use crate::world::World;

async fn counting() -> World {
    let metrics = Metrics::new();
    World::counted(metrics.over(Arc::new(MemoryBackend::default())), metrics).await
}

#[tokio::test]
async fn the_activity_of_workers_is_shown_by_lane_and_kind() {
    let world = counting().await;
    world.running("good").await.complete(&world, json!(1)).await;
    let bad = world.running("bad").await;
    let failed = json!({"message": "no", "permanent": true});
    assert_eq!(world.post(&bad.path("fail"), &bad.call(failed)).await.status, 200);
    let activity = world.get("/v1/activity?namespace=default").await.body;
    let lane = &activity["lanes"][0];
    assert_eq!(
        (&lane["lane_id"], &lane["completed"], &lane["failed"]),
        (&json!("default"), &json!(1), &json!(1)),
        "{activity}"
    );
    assert_eq!(lane["minutes"].as_array().unwrap().len(), 1, "{activity}");
    assert!(lane["start_p95_ms"].is_u64() && lane["run_p50_ms"].is_u64(), "{activity}");
    let kinds: Vec<_> = activity["kinds"].as_array().unwrap().iter().map(|kind| &kind["kind"]).collect();
    assert_eq!(kinds, ["bad", "good"], "failing kinds come first");
    let other = world.get("/v1/activity?namespace=other").await.body;
    assert_eq!(other, json!({"lanes": [], "kinds": [], "left_out": false}));
}

#[tokio::test]
async fn a_tenant_sees_only_its_own_activity() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    assert_eq!(world.get("/v1/activity").await.status, 200);
    assert_eq!(world.get("/v1/activity?namespace=other").await.status, 403);
}
