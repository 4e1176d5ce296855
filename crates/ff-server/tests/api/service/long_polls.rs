//! Long polls: a response arrives as soon as there is one.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::World;

/// Far longer than a response takes, and far shorter than the requested wait.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Time limit of most responses, even on a busy machine.
const SOON: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_waiting_claim_is_answered_within_milliseconds_of_a_submission() {
    let world = World::start().await;
    let claim = json!({"worker_id": "w", "wait_ms": 60_000});
    let mut took = Vec::new();
    for nth in 0..21 {
        let new = json!({"kind": "k", "payload": nth});
        let began = Instant::now();
        let (claimed, id) = tokio::join!(world.post("/v1/workers/w-1/claim", &claim), world.submit(&new));
        took.push(began.elapsed());
        let task = &claimed.body["executions"][0];
        assert_eq!((&task["execution_id"], &task["payload"]), (&json!(id), &json!(nth)));
    }
    took.sort();
    assert!(took[10] < SOON, "half of them took longer: {took:?}");
}

#[tokio::test]
async fn a_claim_that_waited_in_vain_is_empty() {
    let world = World::start().await;
    let claimed = world.post("/v1/workers/w-1/claim", &json!({"worker_id": "w", "wait_ms": 20})).await;
    assert_eq!((claimed.status.as_u16(), claimed.body), (200, json!({"executions": []})));
}

#[tokio::test]
async fn a_waiting_worker_is_notified_of_a_cancellation() {
    let world = World::start().await;
    let held = world.running("k").await;
    let began = Instant::now();
    let start = world.get("/v1/workers/w-1/control").await.body;
    assert_eq!((&start["lost"], &start["missed"]), (&json!([]), &json!(false)));
    let path = format!("/v1/workers/w-1/control?after={}&wait_ms=60000", start["next"].as_str().unwrap());
    let cancel = held.path("cancel");
    let body = json!({});
    let (reply, cancelled) = tokio::join!(world.get(&path), world.post(&cancel, &body));
    assert_eq!(cancelled.status, 200);
    let lost = &reply.body["lost"][0];
    assert_eq!((&lost["execution_id"], &lost["how"]), (&held.0["execution_id"], &json!("cancelled")));
    for part in ["lease_id", "lease_epoch", "attempt_id"] {
        assert_eq!(lost[part], held.0[part]);
    }
    assert_ne!(reply.body["next"], start["next"]);
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn a_waiting_caller_gets_the_result_at_the_end() {
    let world = World::start().await;
    let held = world.running("k").await;
    let began = Instant::now();
    let (path, complete) = (held.path("result?wait_ms=60000"), held.path("complete"));
    let call = held.call(json!({"result": 7}));
    let (ended, _) = tokio::join!(world.get(&path), world.post(&complete, &call));
    assert_eq!((ended.status.as_u16(), &ended.body["result"]), (200, &json!(7)));
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn an_end_waited_for_in_vain_says_how_it_stands() {
    let world = World::start().await;
    let held = world.running("k").await;
    let refused = world.get(&held.path("result?wait_ms=20")).await;
    refused.assert_refused(409, "execution_not_terminal", None);
    assert_eq!(refused.body["state"], "active");
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_no_work_with_it() {
    let world = World::start().await;
    let body = json!({"worker_id": "w", "wait_ms": 60_000});
    let gone = world.request(reqwest::Method::POST, "/v1/workers/gone/claim").json(&body);
    let gone = gone.timeout(Duration::from_millis(200)).send().await.unwrap_err();
    assert!(gone.is_timeout(), "{gone}");
    world.get("/healthz").await;
    let new = json!({"kind": "k"});
    let (claimed, id) = tokio::join!(world.post("/v1/workers/here/claim", &body), world.submit(&new));
    assert_eq!(claimed.body["executions"][0]["execution_id"], id);
}

#[tokio::test]
async fn many_wait_at_once() {
    let world = World::start().await;
    let body = json!({"worker_id": "w", "wait_ms": 60_000});
    let waiting = (0..50).map(|nth| {
        let (path, body, world) = (format!("/v1/workers/w-{nth}/claim"), &body, &world);
        async move { world.post(&path, body).await.body["executions"][0]["execution_id"].to_string() }
    });
    let submitted = async {
        let mut ids = Vec::new();
        for nth in 0..50 {
            ids.push(json!(world.submit(&json!({"kind": "k", "payload": nth})).await).to_string());
        }
        ids
    };
    let (mut claimed, mut submitted) = tokio::join!(futures_util::future::join_all(waiting), submitted);
    claimed.sort();
    submitted.sort();
    assert_eq!(claimed, submitted);
}
