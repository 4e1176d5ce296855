//! Every limit: a request at the limit is accepted; one past it is refused with the field, the limit and the sent value.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ff_api::{BATCH_BODY_BYTES, PAYLOAD_BODY_BYTES, SIGNAL_BODY_BYTES};
use ff_core::limits;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, answer};

/// A function that returns a value of a size.
type SizedValue = fn(usize) -> Value;

/// A limit of a field, with a request at the limit and one past it.
struct Limit {
    path: String,
    field: &'static str,
    limit: u64,
    sent: u64,
    at: Value,
    past: Value,
}

fn limit(path: &str, field: &'static str, limit: usize, body: impl Fn(usize) -> Value) -> Limit {
    let sent = limit + 1;
    Limit { path: path.into(), field, limit: limit as u64, sent: sent as u64, at: body(limit), past: body(sent) }
}

async fn assert_limits(world: &World, limits: Vec<Limit>) {
    for limit in limits {
        let before = world.contents().await;
        let past = world.post(&limit.path, &limit.past).await;
        past.assert_refused(400, "limit_exceeded", Some(limit.field));
        assert_numbers(&past, limit.limit, limit.sent);
        assert!(world.contents().await == before, "{} wrote something", limit.field);
        let at = world.post(&limit.path, &limit.at).await;
        assert!(at.status.is_success(), "{} at its limit: {at:?}", limit.field);
    }
}

fn assert_numbers(reply: &Reply, limit: u64, sent: u64) {
    assert_eq!((&reply.body["limit"], &reply.body["sent"]), (&json!(limit), &json!(sent)), "{reply:?}");
}

fn span_ms() -> usize {
    usize::try_from(limits::SPAN_MAX_MS).unwrap()
}

#[tokio::test]
async fn a_submission_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let submit = |field, at, body: fn(usize) -> Value| limit("/v1/executions", field, at, body);
    let limits = vec![
        submit("kind", 128, |n| json!({"kind": "k".repeat(n)})),
        submit("namespace", 128, |n| json!({"kind": "k", "namespace": "n".repeat(n)})),
        submit("lane", 64, |n| json!({"kind": "k", "lane": "l".repeat(n)})),
        submit("priority", 9_000, |n| json!({"kind": "k", "priority": n})),
        submit("idempotency_key", 256, |n| json!({"kind": "k", "idempotency_key": "i".repeat(n)})),
        submit("content_type", 128, |n| json!({"kind": "k", "payload_base64": "", "content_type": "c".repeat(n)})),
        submit("tags.t", 256, |n| json!({"kind": "k", "tags": {"t": "v".repeat(n)}})),
        submit("tags", 32, |n| {
            let tags: serde_json::Map<_, _> = (0..n).map(|nth| (format!("t{nth}"), json!("v"))).collect();
            json!({"kind": "k", "tags": tags})
        }),
        submit("delay_ms", span_ms(), |n| json!({"kind": "k", "delay_ms": n})),
    ];
    assert_limits(&world, limits).await;
    let key = |n: usize| json!({"kind": "k", "tags": {"t".repeat(n): "v"}});
    world.post("/v1/executions", &key(129)).await.assert_refused(400, "invalid_tag_key", Some("tags"));
    assert_eq!(world.post("/v1/executions", &key(128)).await.status, 201);
}

#[tokio::test]
async fn a_policy_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let week = usize::try_from(limits::BACKOFF_CEILING_MS).unwrap();
    let fixed = |n| json!({"retry_policy": {"backoff": {"type": "fixed", "delay_ms": n}}});
    let growing = |n| json!({"retry_policy": {"backoff": {"type": "exponential", "max_delay_ms": n}}});
    let first = |n| json!({"retry_policy": {"backoff": {"type": "exponential", "initial_delay_ms": n}}});
    let categories = |n| {
        let names: Vec<_> = (0..n).map(|nth| format!("c{nth}")).collect();
        json!({"retry_policy": {"retryable_categories": names}})
    };
    let cases: [(&str, usize, SizedValue); 10] = [
        ("retry_policy.max_retries", 1_000_000, |n| json!({"retry_policy": {"max_retries": n}})),
        ("retry_policy.backoff.delay_ms", week, fixed),
        ("retry_policy.backoff.initial_delay_ms", week, first),
        ("retry_policy.backoff.max_delay_ms", week, growing),
        ("retry_policy.retryable_categories", 64, categories),
        ("timeout_policy.attempt_timeout_ms", span_ms(), |n| json!({"timeout_policy": {"attempt_timeout_ms": n}})),
        (
            "timeout_policy.execution_deadline_ms",
            span_ms(),
            |n| json!({"timeout_policy": {"execution_deadline_ms": n}}),
        ),
        ("max_reclaim_count", 1_000_000, |n| json!({"max_reclaim_count": n})),
        ("max_replay_count", 1_000_000, |n| json!({"max_replay_count": n})),
        ("dedup_window_ms", span_ms(), |n| json!({"dedup_window_ms": n})),
    ];
    for (field, at, policy) in cases {
        let before = world.contents().await;
        let past = world.post("/v1/executions", &json!({"kind": "k", "policy": policy(at + 1)})).await;
        past.assert_refused(400, "invalid_policy_json", Some(&format!("policy.{field}")));
        assert_numbers(&past, at as u64, at as u64 + 1);
        assert!(world.contents().await == before, "{field} wrote something");
        let taken = world.post("/v1/executions", &json!({"kind": "k", "policy": policy(at)})).await;
        assert_eq!(taken.status, 201, "{field} at its limit: {taken:?}");
    }
}

#[tokio::test]
async fn a_payload_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    let held = world.running("held").await;
    let json_of = |bytes: usize| json!("x".repeat(bytes - 2));
    let base64_of = |bytes: usize| json!(STANDARD.encode(vec![7; bytes]));
    let most = limits::PAYLOAD_BYTES;
    for (field, sized) in [("payload", &json_of as &dyn Fn(usize) -> Value), ("payload_base64", &base64_of)] {
        let before = world.contents().await;
        let past = world.post("/v1/executions", &json!({"kind": "k", field: sized(most + 1)})).await;
        past.assert_refused(413, "payload_too_large", Some("payload"));
        assert_numbers(&past, most as u64, most as u64 + 1);
        assert!(world.contents().await == before);
        let id = world.submit(&json!({"kind": "k", field: sized(most)})).await;
        let info = world.get(&format!("/v1/executions/{id}")).await;
        assert_eq!(info.body["payload_bytes"], most);
    }
    let before = world.contents().await;
    let past = world.post(&held.path("complete"), &held.call(json!({"result_base64": base64_of(most + 1)}))).await;
    past.assert_refused(413, "payload_too_large", Some("result"));
    assert!(world.contents().await == before);
    let at = world.post(&held.path("complete"), &held.call(json!({"result_base64": base64_of(most)}))).await;
    assert_eq!(at.status, 200, "{at:?}");
}

/// Pads a request with spaces, which have no meaning, to a size.
fn padded(body: &Value, bytes: usize) -> String {
    let text = body.to_string();
    format!("{}{text}", " ".repeat(bytes - text.len()))
}

#[tokio::test]
async fn a_body_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    let held = world.running("held").await;
    let waiting = world.running("waiting").await;
    let mut signal = waiting.ahead(&world, "a").await;
    signal["name"] = json!("n");
    let cases = [
        ("/v1/executions".to_owned(), json!({"kind": "k"}), PAYLOAD_BODY_BYTES),
        ("/v1/executions/batch".to_owned(), json!({"executions": [{"kind": "k"}]}), BATCH_BODY_BYTES),
        ("/v1/worker/batch".to_owned(), json!({"calls": []}), BATCH_BODY_BYTES),
        ("/v1/workers/w-2/claim".to_owned(), json!({"worker_id": "w"}), limits::CONTROL_BODY_BYTES),
        (held.path("renew"), held.call(json!({})), limits::CONTROL_BODY_BYTES),
        (held.path("progress"), held.call(json!({})), limits::CONTROL_BODY_BYTES),
        (held.path("frames"), held.call(json!({"frames": [{"text": "a"}]})), PAYLOAD_BODY_BYTES),
        (held.path("steps"), held.call(json!({"name": "a"})), PAYLOAD_BODY_BYTES),
        (held.path("fork"), json!({}), limits::CONTROL_BODY_BYTES),
        (held.path("complete"), held.call(json!({})), PAYLOAD_BODY_BYTES),
        (held.path("replay"), json!({}), limits::CONTROL_BODY_BYTES),
        (held.path("cancel"), json!({}), limits::CONTROL_BODY_BYTES),
        (
            "/v1/secrets/rotate".to_owned(),
            json!({"kid": "k2", "secret_hex": "00".repeat(16)}),
            limits::CONTROL_BODY_BYTES,
        ),
        (waiting.path("waitpoints"), waiting.call(json!({"key": "b"})), limits::CONTROL_BODY_BYTES),
        (waiting.path("signals"), signal, SIGNAL_BODY_BYTES),
        (waiting.path("suspend"), waiting.call(json!({"waitpoints": [{"key": "c"}]})), PAYLOAD_BODY_BYTES),
        (waiting.path("approve"), json!({}), SIGNAL_BODY_BYTES),
    ];
    for (path, body, most) in cases {
        let before = world.contents().await;
        let past = world.post_text(&path, padded(&body, most + 1)).await;
        past.assert_refused(413, "payload_too_large", Some("body"));
        assert_numbers(&past, most as u64, most as u64 + 1);
        assert!(world.contents().await == before, "{path} wrote something");
        let at = world.post_text(&path, padded(&body, most)).await;
        assert!(at.status.is_success(), "{path} at its limit: {at:?}");
    }
    let again = world.running("again").await;
    for (path, body) in [
        (again.path("revoke"), json!({})),
        (again.path("fail"), again.call(json!({"message": "m"}))),
        (again.path("delay"), again.call(json!({}))),
    ] {
        let past = world.post_text(&path, padded(&body, limits::CONTROL_BODY_BYTES + 1)).await;
        past.assert_refused(413, "payload_too_large", Some("body"));
    }
}

#[tokio::test]
async fn a_body_far_too_large_is_still_answered() {
    let world = World::start().await;
    let past = world.post_text("/v1/executions", padded(&json!({"kind": "k"}), 3 * BATCH_BODY_BYTES)).await;
    past.assert_refused(413, "payload_too_large", Some("body"));
}

#[tokio::test]
async fn a_batch_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    let batch = |n| json!({"executions": vec![json!({"kind": "k"}); n]});
    let before = world.contents().await;
    let past = world.post("/v1/executions/batch", &batch(1_001)).await;
    past.assert_refused(400, "limit_exceeded", Some("executions"));
    assert_numbers(&past, 1_000, 1_001);
    assert!(world.contents().await == before);
    let at = world.post("/v1/executions/batch", &batch(1_000)).await;
    assert_eq!(at.body["results"].as_array().map(Vec::len), Some(1_000));
}

#[tokio::test]
async fn a_claim_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    // These executions let a claim with a wait of a minute return at once.
    for lane in ["l0", "wait"] {
        world.submit(&json!({"kind": "k", "lane": lane})).await;
    }
    let claim = |field, at, body: fn(usize) -> Value| limit("/v1/workers/w-1/claim", field, at, body);
    let ttl_max = usize::try_from(limits::LEASE_TTL_MAX_MS).unwrap();
    let names = |n: usize, of: &str| (0..n).map(|nth| format!("{of}{nth}")).collect::<Vec<_>>();
    let mut limits = vec![
        claim("worker_id", 128, |n| json!({"worker_id": "w".repeat(n)})),
        claim("max", 1_000, |n| json!({"worker_id": "w", "max": n})),
        claim("lease_ttl_ms", ttl_max, |n| json!({"worker_id": "w", "lease_ttl_ms": n})),
        claim("wait_ms", 60_000, |n| json!({"worker_id": "w", "lanes": ["wait"], "wait_ms": n})),
        limit("/v1/workers/w-1/claim", "lanes", 64, |n| json!({"worker_id": "w", "lanes": names(n, "l")})),
        limit("/v1/workers/w-1/claim", "kinds", 256, |n| json!({"worker_id": "w", "kinds": names(n, "k")})),
    ];
    let (shortest, shorter) =
        (json!({"worker_id": "w", "lease_ttl_ms": 1_000}), json!({"worker_id": "w", "lease_ttl_ms": 999}));
    let path = "/v1/workers/w-1/claim".to_owned();
    limits.push(Limit { path, field: "lease_ttl_ms", limit: 1_000, sent: 999, at: shortest, past: shorter });
    assert_limits(&world, limits).await;
}

#[tokio::test]
async fn a_holders_call_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let held = world.running("held").await;
    let call =
        |verb: &str, field, at, body: fn(usize) -> Value| limit(&held.path(verb), field, at, |n| held.call(body(n)));
    let ttl_max = usize::try_from(limits::LEASE_TTL_MAX_MS).unwrap();
    assert_limits(
        &world,
        vec![
            call("renew", "lease_ttl_ms", ttl_max, |n| json!({"lease_ttl_ms": n})),
            call("progress", "percent", 100, |n| json!({"percent": n})),
            call("progress", "message", 8_192, |n| json!({"message": "m".repeat(n)})),
            call("delay", "delay_ms", span_ms(), |n| json!({"delay_ms": n})),
        ],
    )
    .await;
    let failing = world.running("failing").await;
    let fail = |field, at, body: fn(usize) -> Value| limit(&failing.path("fail"), field, at, |n| failing.call(body(n)));
    assert_limits(
        &world,
        vec![
            fail("category", 128, |n| json!({"message": "m", "category": "c".repeat(n)})),
            fail("message", 8_192, |n| json!({"message": "m".repeat(n)})),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_wait_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let cases: [(&str, &'static str, usize, SizedValue); 8] = [
        ("suspend", "waitpoints", 64, |n| {
            let keys: Vec<_> = (0..n).map(|nth| json!({"key": format!("w{nth}")})).collect();
            json!({"waitpoints": keys, "condition": {"type": "operator_only"}})
        }),
        ("suspend", "waitpoints[0].key", 256, |n| json!({"waitpoints": [{"key": "k".repeat(n)}]})),
        ("suspend", "continuation", 8_192, |n| json!({"waitpoints": [{"key": "a"}], "continuation": "c".repeat(n)})),
        (
            "suspend",
            "idempotency_key",
            256,
            |n| json!({"waitpoints": [{"key": "a"}], "idempotency_key": "i".repeat(n)}),
        ),
        ("suspend", "timeout_in_ms", span_ms(), |n| json!({"waitpoints": [{"key": "a"}], "timeout_in_ms": n})),
        ("suspend", "dedup_ttl_ms", span_ms(), |n| json!({"waitpoints": [{"key": "a"}], "dedup_ttl_ms": n})),
        ("waitpoints", "key", 256, |n| json!({"key": "k".repeat(n)})),
        ("waitpoints", "expires_in_ms", span_ms(), |n| json!({"key": "a", "expires_in_ms": n})),
    ];
    for (nth, (verb, field, at, body)) in cases.into_iter().enumerate() {
        let held = world.running(&format!("k{nth}")).await;
        assert_limits(&world, vec![limit(&held.path(verb), field, at, |n| held.call(body(n)))]).await;
    }
}

#[tokio::test]
async fn a_signal_and_a_decision_at_their_limits_are_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let held = world.running("held").await;
    let granted = held.ahead(&world, "a").await;
    let signal = |field: &'static str, at, value: fn(usize) -> Value| {
        limit(&held.path("signals"), field, at, |n| {
            let mut body = granted.clone();
            body["name"] = json!("n");
            body[field] = value(n);
            body
        })
    };
    let limits = vec![
        signal("name", 128, |n| json!("n".repeat(n))),
        signal("waitpoint_key", 256, |n| json!("k".repeat(n))),
        signal("idempotency_key", 256, |n| json!("i".repeat(n))),
        signal("dedup_ttl_ms", span_ms(), |n| json!(n)),
    ];
    assert_limits(&world, limits).await;
    let cases: [(&'static str, usize, SizedValue); 3] = [
        ("reason", 8_192, |n| json!({"reason": "r".repeat(n)})),
        ("requested_by", 256, |n| json!({"requested_by": "r".repeat(n)})),
        ("resume_delay_ms", span_ms(), |n| json!({"resume_delay_ms": n})),
    ];
    for (field, at, body) in cases {
        let held = world.running(field).await;
        held.suspended(&world, "a").await;
        assert_limits(&world, vec![limit(&held.path("approve"), field, at, body)]).await;
    }
}

#[tokio::test]
async fn a_reason_at_its_limit_is_taken_and_one_past_it_refused() {
    let world = World::start().await;
    for (verb, field) in [
        ("revoke", "reason"),
        ("cancel", "reason"),
        ("cancel", "requested_by"),
        ("replay", "reason"),
        ("replay", "requested_by"),
    ] {
        let held = world.running(&format!("{verb}-{field}")).await;
        if verb == "replay" {
            world.post(&held.path("complete"), &held.call(json!({}))).await;
        }
        let reason = limit(&held.path(verb), field, limits::MESSAGE_BYTES, |n| json!({field: "r".repeat(n)}));
        assert_limits(&world, vec![reason]).await;
    }
}

#[tokio::test]
async fn parameters_at_their_limits_are_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let held = world.running("held").await;
    let lost = world.running("lost").await;
    let cursor = world.get("/v1/workers/w-1/control").await.text("next");
    world.post(&lost.path("cancel"), &json!({})).await;
    world.post(&held.path("complete"), &held.call(json!({}))).await;
    for (at, past, field, numbers) in [
        ("/v1/executions?limit=1000".to_owned(), "/v1/executions?limit=1001".to_owned(), "limit", (1_000, 1_001)),
        (held.path("result?wait_ms=60000"), held.path("result?wait_ms=60001"), "wait_ms", (60_000, 60_001)),
        (
            format!("/v1/workers/w-1/control?after={cursor}&wait_ms=60000"),
            "/v1/workers/w-1/control?wait_ms=60001".to_owned(),
            "wait_ms",
            (60_000, 60_001),
        ),
        (
            format!("/v1/executions?lane={}", "l".repeat(64)),
            format!("/v1/executions?lane={}", "l".repeat(65)),
            "lane",
            (64, 65),
        ),
    ] {
        let refused = world.get(&past).await;
        refused.assert_refused(400, "limit_exceeded", Some(field));
        assert_numbers(&refused, numbers.0, numbers.1);
        assert_eq!(world.get(&at).await.status, 200, "{at}");
    }
}

#[tokio::test]
async fn a_key_in_the_header_has_the_limit_of_a_key() {
    let world = World::start().await;
    let submit = |key: String| {
        let request = world.request(Method::POST, "/v1/executions").header("Idempotency-Key", key);
        answer(request.json(&json!({"kind": "k"})))
    };
    let past = submit("i".repeat(257)).await;
    past.assert_refused(400, "limit_exceeded", Some("Idempotency-Key"));
    assert_numbers(&past, 256, 257);
    assert_eq!(submit("i".repeat(256)).await.status, 201);
}
