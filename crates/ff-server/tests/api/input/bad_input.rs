//! Bad input to every route gets a clear error with a stable code and the field, and writes nothing.

use std::collections::BTreeSet;

use ff_server::{ROUTES, openapi};
use reqwest::Method;
use serde_json::json;

use crate::input::bodies::{routes, target};
use crate::world::{Reply, World, answer};

const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

/// A refused request changes nothing.
async fn unchanged(world: &World, case: &str, request: impl Future<Output = Reply>) -> Reply {
    let before = world.contents().await;
    let reply = request.await;
    assert!(reply.status.is_client_error(), "{case}: {reply:?}");
    assert!(world.contents().await == before, "{case} wrote something");
    reply
}

#[tokio::test]
async fn every_route_that_takes_a_body_is_tried_with_bad_ones() {
    let tried: Vec<_> = routes().iter().map(|route| route.path).collect();
    let taking = ROUTES.iter().filter(|(method, path, _)| *method == "post" && path.starts_with("/v1"));
    let taking: Vec<_> = taking.map(|(_, path, _)| *path).collect();
    for path in taking {
        assert!(tried.contains(&path), "{path} is not in the table");
    }
}

#[tokio::test]
async fn a_bad_field_is_named_and_nothing_is_written() {
    let world = World::start().await;
    let mut cases = 0;
    for route in routes() {
        let (path, good) = target(&world, &route).await;
        for field in &route.fields {
            for wrong in &field.wrong {
                let case = format!("{path} with {} = {wrong}", field.name);
                let mut body = good.clone();
                body[field.name] = wrong.clone();
                let reply = unchanged(&world, &case, world.post(&path, &body)).await;
                reply.assert_refused(400, field.code, Some(field.name));
                cases += 1;
            }
            if field.required {
                let mut body = good.clone();
                body.as_object_mut().unwrap().remove(field.name);
                let reply = unchanged(&world, &format!("{path} without it"), world.post(&path, &body)).await;
                reply.assert_refused(400, "invalid_input", Some(field.name));
                cases += 1;
            }
        }
        let mut body = good.clone();
        body["nobody_reads_this"] = json!(1);
        let reply = unchanged(&world, &path, world.post(&path, &body)).await;
        reply.assert_refused(400, "unknown_field", Some("nobody_reads_this"));
        let reply = unchanged(&world, &path, world.post(&format!("{path}?colour=red"), &good)).await;
        reply.assert_refused(400, "unknown_field", Some("colour"));

        let taken = world.post(&path, &good).await;
        assert!(taken.status.is_success(), "{path} with {good}: {taken:?}");
    }
    assert!(cases > 200, "only {cases} cases were tried");
}

/// A list of the values of all fields, in their order, is not an object.
#[tokio::test]
async fn a_list_in_place_of_an_object_is_refused() {
    let world = World::start().await;
    let held = world.running("listed").await;
    let budget = |limits, reset| json!({"scope": "namespace", "limits": limits, "reset": reset});
    for (path, body, field) in [
        (held.path("steps"), held.call(json!({"name": "s", "failure": [null, "m", true]})), "failure"),
        ("/v1/quotas/q".to_owned(), json!({"scope": "namespace", "rate": [5, 60_000]}), "rate"),
        ("/v1/budgets/b".to_owned(), budget(json!({"tokens": [5, null]}), json!("never")), "limits.tokens"),
        ("/v1/budgets/b".to_owned(), budget(json!({"tokens": {"hard": 5}}), json!({"interval": [60_000]})), "reset"),
    ] {
        let reply = unchanged(&world, &format!("{path} with {body}"), world.post(&path, &body)).await;
        reply.assert_refused(400, "invalid_input", Some(field));
    }
}

#[tokio::test]
async fn a_body_that_is_not_an_object_of_json_is_refused() {
    let world = World::start().await;
    for route in routes() {
        let (path, good) = target(&world, &route).await;
        for broken in ["{", "nonsense", "{\"kind\":}", "{'kind':'k'}", "{} {}", "{\"kind\":\"\u{1}\"}", "\u{feff}{}"] {
            let reply = unchanged(&world, broken, world.post_text(&path, broken)).await;
            reply.assert_refused(400, "invalid_json", Some("body"));
        }
        for other in ["[]", "[\"k\"]", "5", "null", "\"k\"", "true"] {
            let reply = unchanged(&world, other, world.post_text(&path, other)).await;
            reply.assert_refused(400, "invalid_input", Some("body"));
        }
        let latin1 = vec![b'{', b'"', 0xe9, b'"', b':', b'1', b'}'];
        let reply = unchanged(&world, "latin1", world.post_text(&path, latin1)).await;
        assert_eq!(reply.status, 400, "{reply:?}");

        let text = good.to_string();
        for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml", "json"] {
            let request = world.request(Method::POST, &path).header("content-type", content_type).body(text.clone());
            let reply = unchanged(&world, content_type, answer(request)).await;
            reply.assert_refused(415, "unsupported_media_type", Some("Content-Type"));
        }
        let reply = unchanged(&world, "PUT", answer(world.request(Method::PUT, &path).json(&good))).await;
        reply.assert_refused(405, "method_not_allowed", None);
    }
}

#[tokio::test]
async fn a_body_may_leave_its_type_unsaid_or_say_a_charset() {
    let world = World::start().await;
    let unsaid = world.request(Method::POST, "/v1/executions").body("{\"kind\":\"k\"}");
    assert_eq!(answer(unsaid).await.status, 201);
    let content_type = "Application/JSON; charset=utf-8";
    let with_charset = world.request(Method::POST, "/v1/executions").header("content-type", content_type);
    assert_eq!(answer(with_charset.body("{\"kind\":\"k\"}")).await.status, 201);
}

#[tokio::test]
async fn a_fence_is_all_of_its_parts() {
    let world = World::start().await;
    for route in routes().iter().filter(|route| route.fields.iter().any(|field| field.name == "lease_epoch")) {
        let (path, good) = target(&world, route).await;
        let reply = unchanged(&world, &path, world.post(&path, &route.good)).await;
        reply.assert_refused(400, "fence_required", None);
        for part in ["lease_id", "lease_epoch", "attempt_id"] {
            let mut body = good.clone();
            body.as_object_mut().unwrap().remove(part);
            let reply = unchanged(&world, &path, world.post(&path, &body)).await;
            reply.assert_refused(400, "partial_fence_triple", None);
        }
    }
}

#[tokio::test]
async fn an_error_inside_a_field_is_named_by_its_path() {
    let world = World::start().await;
    for (policy, field) in [
        (json!({"priority": 1}), "policy.priority"),
        (json!({"retry_policy": 5}), "policy.retry_policy"),
        (json!({"retry_policy": []}), "policy.retry_policy"),
        (json!({"retry_policy": {"max_retry": 1}}), "policy.retry_policy.max_retry"),
        (json!({"retry_policy": {"max_retries": "3"}}), "policy.retry_policy.max_retries"),
        (json!({"retry_policy": {"backoff": []}}), "policy.retry_policy.backoff"),
        (json!({"timeout_policy": []}), "policy.timeout_policy"),
        (json!({"timeout_policy": {"attempt_timeout_ms": 0}}), "policy.timeout_policy.attempt_timeout_ms"),
        (json!({"max_replay_count": 1_000_001}), "policy.max_replay_count"),
    ] {
        let body = json!({"kind": "k", "policy": policy});
        let reply = unchanged(&world, field, world.post("/v1/executions", &body)).await;
        reply.assert_refused(400, "invalid_policy_json", Some(field));
    }
    let held = world.running("held").await;
    for (body, code, field) in [
        (json!({"waitpoints": [["a"]]}), "invalid_input", "waitpoints[0]"),
        (json!({}), "invalid_input", "waitpoints"),
        (json!({"approval": {}}), "invalid_input", "approval.question"),
        (json!({"approval": {"question": ""}}), "invalid_input", "approval.question"),
        (json!({"approval": {"question": 7}}), "invalid_input", "approval.question"),
        (json!({"approval": "deploy?"}), "invalid_input", "approval"),
        (json!({"approval": {"question": "x".repeat(8_193)}}), "limit_exceeded", "approval.question"),
        (json!({"approval": {"question": "?", "ask": "ada"}}), "unknown_field", "approval.ask"),
        (json!({"approval": {"question": "?"}, "timeout_in_ms": u64::MAX}), "limit_exceeded", "timeout_in_ms"),
        (json!({"approval": {"question": "?"}, "condition": {"type": "operator_only"}}), "invalid_input", "condition"),
        (json!({"waitpoints": [{"key": "a", "kee": 1}]}), "unknown_field", "waitpoints[0].kee"),
        (json!({"waitpoints": [{"key": "a"}, {"key": "a"}]}), "invalid_input", "condition"),
        (json!({"waitpoints": [{"key": "a"}], "condition": {"type": "never"}}), "invalid_input", "condition.type"),
        (
            json!({"waitpoints": [{"key": "a"}], "condition": {"type": "operator_only", "n": 1}}),
            "unknown_field",
            "condition.n",
        ),
        (json!({"waitpoints": [{"key": "a"}], "resume_policy": {"n": 1}}), "invalid_policy_json", "resume_policy.n"),
        (
            json!({"waitpoints": [{"key": "a"}], "condition": {"type": "all_of", "members": [[]]}}),
            "invalid_input",
            "condition.members[0]",
        ),
    ] {
        let reply = unchanged(&world, field, world.post(&held.path("suspend"), &held.call(body))).await;
        reply.assert_refused(400, code, Some(field));
    }
    for (path, body, field) in [
        ("/v1/executions", json!({"kind": "k", "tags": {"a": ""}}), "tags.a"),
        ("/v1/executions", json!({"kind": "k", "tags": {"a": 5}}), "tags.a"),
        ("/v1/workers/w-1/claim", json!({"worker_id": "w", "lanes": ["a", "b c"]}), "lanes[1]"),
        ("/v1/workers/w-1/claim", json!({"worker_id": "w", "kinds": [5]}), "kinds[0]"),
        ("/v1/workers/w-1/claim", json!({"worker_id": "w", "partition": 1, "lanes": ["a", "b"]}), "lanes"),
        ("/v1/workers/w-1/claim", json!({"worker_id": "w", "partition": 1, "wait_ms": 5}), "wait_ms"),
    ] {
        let reply = unchanged(&world, field, world.post(path, &body)).await;
        reply.assert_refused(400, "invalid_input", Some(field));
    }
}

#[tokio::test]
async fn fields_that_contradict_each_other_are_refused() {
    let world = World::start().await;
    for (body, field) in [
        (json!({"kind": "k", "delay_ms": 1, "start_at": 1}), "start_at"),
        (json!({"kind": "k", "payload": 1, "payload_base64": "MQ=="}), "payload_base64"),
        (json!({"kind": "k", "payload": 1, "content_type": "text/plain"}), "content_type"),
        (json!({"kind": "k", "content_type": "text/plain"}), "content_type"),
    ] {
        let reply = unchanged(&world, field, world.post("/v1/executions", &body)).await;
        reply.assert_refused(400, "invalid_input", Some(field));
    }
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let world = World::start().await;
    let held = world.running("k").await;
    let flow = world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": "f"}}})).await;
    let queries = vec![
        ("/v1/executions".to_owned(), "namespace=a%20b", "invalid_input", "namespace"),
        ("/v1/executions".to_owned(), "lane=", "invalid_input", "lane"),
        ("/v1/executions".to_owned(), "state=sleeping", "invalid_input", "state"),
        ("/v1/executions".to_owned(), "cursor=x", "invalid_cursor", "cursor"),
        ("/v1/executions".to_owned(), "cursor=1.9.018f3c5e-7a10-7c31-9c45", "invalid_cursor", "cursor"),
        ("/v1/executions".to_owned(), "limit=ten", "invalid_input", "limit"),
        ("/v1/executions".to_owned(), "limit=-1", "invalid_input", "limit"),
        ("/v1/executions".to_owned(), "limit=0", "invalid_input", "limit"),
        ("/v1/executions".to_owned(), "limit=1&limit=2", "invalid_input", "limit"),
        (held.path("result"), "wait_ms=long", "invalid_input", "wait_ms"),
        (held.path("result"), "encoding=xml", "invalid_input", "encoding"),
        (held.path("payload"), "encoding=xml", "invalid_input", "encoding"),
        ("/v1/doctor".to_owned(), "partition=x", "invalid_input", "partition"),
        ("/v1/doctor".to_owned(), "partition=4", "invalid_input", "partition"),
        (held.path("signals"), "skip=-1", "invalid_input", "skip"),
        (held.path("signals"), "limit=0", "invalid_input", "limit"),
        ("/v1/deliveries".to_owned(), "after=x", "invalid_cursor", "after"),
        ("/v1/deliveries".to_owned(), "limit=0", "invalid_input", "limit"),
        ("/v1/deliveries".to_owned(), "wait_ms=long", "invalid_input", "wait_ms"),
        ("/v1/decisions".to_owned(), "limit=0", "invalid_input", "limit"),
        ("/v1/decisions".to_owned(), "namespace=a%20b", "invalid_input", "namespace"),
        ("/v1/workers/w-1/control".to_owned(), "wait_ms=-1", "invalid_input", "wait_ms"),
        ("/v1/workers/w-1/control".to_owned(), "after=x", "invalid_cursor", "after"),
        ("/v1/flows".to_owned(), "namespace=a%20b", "invalid_input", "namespace"),
        ("/v1/flows".to_owned(), "kind=", "invalid_input", "kind"),
        ("/v1/flows".to_owned(), "state=sleeping", "invalid_input", "state"),
        ("/v1/flows".to_owned(), "tag=customer", "invalid_input", "tag"),
        ("/v1/flows".to_owned(), "tag=a%20b:c", "invalid_input", "tag"),
        ("/v1/flows".to_owned(), "tag=a:", "invalid_input", "tag"),
        ("/v1/flows".to_owned(), "cursor=x", "invalid_cursor", "cursor"),
        ("/v1/flows".to_owned(), "limit=0", "invalid_input", "limit"),
        (format!("/v1/flows/{flow}"), "graph=all", "invalid_input", "graph"),
        (format!("/v1/flows/{flow}"), "graph=1001", "limit_exceeded", "graph"),
        (format!("/v1/flows/{flow}"), "wait_ms=long", "invalid_input", "wait_ms"),
        (format!("/v1/flows/{flow}/members"), "from=-1", "invalid_input", "from"),
        (format!("/v1/flows/{flow}/members"), "limit=0", "invalid_input", "limit"),
        (format!("/v1/flows/{flow}/edges"), "after=x", "invalid_input", "after"),
        (format!("/v1/flows/{flow}/edges"), "limit=1001", "limit_exceeded", "limit"),
        (format!("/v1/flows/{flow}/events"), "from=x", "invalid_input", "from"),
        (format!("/v1/flows/{flow}/events"), "limit=0", "invalid_input", "limit"),
        (format!("/v1/flows/{flow}/events"), "wait_ms=-1", "invalid_input", "wait_ms"),
    ];
    for (path, query, code, field) in queries {
        let address = format!("{path}?{query}");
        let reply = unchanged(&world, &address, world.get(&address)).await;
        reply.assert_refused(400, code, Some(field));
    }
}

/// The error names the allowed parameters, which are those of the OpenAPI document.
#[tokio::test]
async fn every_route_names_its_parameters_when_it_gets_an_unknown_one() {
    let world = World::start().await;
    let held = world.running("q").await;
    let flow = world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": "f"}}})).await;
    let document = openapi();
    for (_, route, _) in ROUTES.iter().filter(|(method, path, _)| *method == "get" && !path.starts_with("/approvals")) {
        let id = held.0["execution_id"].as_str().unwrap();
        let path = route.replace("{id}", id).replace("{instance}", "w-1").replace("{code}", "stale_lease");
        let path = path.replace("{waitpoint}", UUID).replace("{signal}", UUID).replace("{flow}", &flow);
        let path = path.replace("{lane}", "mail").replace("{quota}", "customers").replace("{schedule}", "nightly");
        let path = path.replace("{budget}", "daily");
        let reply = unchanged(&world, &path, world.get(&format!("{path}?colour=red"))).await;
        reply.assert_refused(400, "unknown_field", Some("colour"));
        let detail = reply.text("detail");
        let named: BTreeSet<_> = detail.split('`').skip(3).step_by(2).collect();
        let parameters = document["paths"][*route]["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let described = parameters.iter().filter(|one| one["in"] == "query");
        assert_eq!(named, described.map(|one| one["name"].as_str().unwrap()).collect(), "{route}: {detail}");
    }
}

#[tokio::test]
async fn an_unknown_path_or_method_returns_a_problem() {
    let world = World::start().await;
    for path in ["/v1", "/v2/executions", "/v1/executions/a/b/c", "/healthz/", "/errors/none", "/errors/%ff"] {
        world.get(path).await.assert_refused(404, "not_found", None);
    }
    let refused = world.get("/nowhere").await;
    let meaning = world.get(&refused.text("type")).await;
    assert_eq!((meaning.status.as_u16(), &meaning.body["title"]), (200, &refused.body["title"]));
    let deleted = answer(world.request(Method::DELETE, "/v1/executions")).await;
    deleted.assert_refused(405, "method_not_allowed", None);
    assert!(deleted.headers.contains_key("allow"), "{deleted:?}");
}
