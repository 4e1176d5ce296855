//! Bad input to every route gets a clear error with a stable code and the field, and nothing is written.

use ff_server::ROUTES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, answer};

/// What a route takes, and whether the body shown is all right as it is.
struct Route {
    path: &'static str,
    /// A body that is taken as it stands.
    good: Value,
    /// Its fields, each with values of the wrong type or shape.
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    required: bool,
    code: &'static str,
    wrong: Vec<Value>,
}

fn field(name: &'static str, wrong: Value) -> Field {
    let Value::Array(wrong) = wrong else { panic!("a list of wrong values") };
    Field { name, required: false, code: "invalid_input", wrong }
}

fn required(name: &'static str, wrong: Value) -> Field {
    Field { required: true, ..field(name, wrong) }
}

fn coded(code: &'static str, name: &'static str, wrong: Value) -> Field {
    Field { code, ..field(name, wrong) }
}

/// A name, with what cannot be one.
fn name(name: &'static str) -> Field {
    field(name, json!([5, true, [], {}, "", "a b", "a:b", "{a}", "é"]))
}

fn text(name: &'static str) -> Field {
    field(name, json!([5, true, [], {}]))
}

fn count(name: &'static str) -> Field {
    field(name, json!(["5", true, -1, 1.5, 1e30, [], {}]))
}

/// The fence's fields as a holder's call sends them.
fn fence() -> Vec<Field> {
    let id = json!([5, "", "nope", "018F3C5E-7A10-7C31-9C45-0D3F7C1A2B3C", "018f3c5e7a107c319c450d3f7c1a2b3c"]);
    let mut fence = vec![field("lease_id", id.clone()), count("lease_epoch"), field("attempt_id", id)];
    for part in &mut fence {
        part.wrong.push(json!([]));
    }
    fence
}

fn with_fence(more: Vec<Field>) -> Vec<Field> {
    fence().into_iter().chain(more).collect()
}

/// Every route that takes a body.
fn routes() -> Vec<Route> {
    let steer = || vec![text("reason"), text("requested_by")];
    vec![
        Route {
            path: "/v1/executions",
            good: json!({"kind": "k"}),
            fields: vec![
                required("kind", name("kind").wrong.into()),
                name("namespace"),
                name("lane"),
                field("priority", json!(["5", true, -1, 1.5, [], {}])),
                field("tags", json!([5, "a", [], ["a"]])),
                coded("invalid_tag_key", "tags", json!([{"": "v"}, {"a b": "v"}, {"a:b": "v"}])),
                field("payload_base64", json!([5, "*", "YQ", "YQ=", "Y Q==", [], {}])),
                field("content_type", json!([5, "", "a\nb", [], {}, "image/png"])),
                count("delay_ms"),
                field("start_at", json!(["soon", true, 1.5, [], {}])),
                field("idempotency_key", json!([5, "", "a\u{0}b", [], {}])),
                field("uuid", json!([5, "", "nope", "{fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c", [], {}])),
                coded("invalid_policy_json", "policy", json!([5, true, "x", [], [3]])),
            ],
        },
        Route {
            path: "/v1/executions/batch",
            good: json!({"executions": [{"kind": "k"}]}),
            fields: vec![required("executions", json!([5, "x", {}, null]))],
        },
        Route { path: "/v1/executions/{id}/cancel", good: json!({"reason": "r"}), fields: steer() },
        Route { path: "/v1/executions/{id}/replay", good: json!({"reason": "r"}), fields: steer() },
        Route {
            path: "/v1/executions/{id}/revoke",
            good: json!({"reason": "r"}),
            fields: vec![fence().remove(0), text("reason")],
        },
        Route { path: "/v1/executions/{id}/renew", good: json!({}), fields: with_fence(vec![count("lease_ttl_ms")]) },
        Route {
            path: "/v1/executions/{id}/progress",
            good: json!({"percent": 1}),
            fields: with_fence(vec![count("percent"), text("message")]),
        },
        Route {
            path: "/v1/executions/{id}/complete",
            good: json!({"result": null}),
            fields: with_fence(vec![
                field("result_base64", json!([5, "*", "YQ==", [], {}])),
                field("content_type", json!([5, "", "a\nb", "image/png", [], {}])),
            ]),
        },
        Route {
            path: "/v1/executions/{id}/fail",
            good: json!({"message": "m"}),
            fields: with_fence(vec![
                required("message", text("message").wrong.into()),
                name("category"),
                field("permanent", json!([5, "true", [], {}])),
            ]),
        },
        Route {
            path: "/v1/executions/{id}/delay",
            good: json!({"delay_ms": 1}),
            fields: with_fence(vec![count("delay_ms"), field("start_at", json!(["soon", 1.5, [], 5]))]),
        },
        Route {
            path: "/v1/workers/{instance}/claim",
            good: json!({"worker_id": "w"}),
            fields: vec![
                required("worker_id", name("worker_id").wrong.into()),
                name("namespace"),
                field("lanes", json!([5, "default", {}, []])),
                field("kinds", json!([5, "k", {}])),
                field("max", json!(["5", true, -1, 1.5, 0, [], {}])),
                count("lease_ttl_ms"),
                count("wait_ms"),
                field("partition", json!(["5", true, -1, 1.5, 4, 65_536, [], {}])),
                field("encoding", json!([5, "xml", "JSON", [], {}])),
            ],
        },
    ]
}

/// A refused request changes nothing, whatever it was refused for.
async fn unchanged(world: &World, case: &str, request: impl Future<Output = Reply>) -> Reply {
    let before = world.contents().await;
    let reply = request.await;
    assert!(reply.status.is_client_error(), "{case}: {reply:?}");
    assert!(world.contents().await == before, "{case} wrote something");
    reply
}

/// The path of a route with something that is there, and its body with the fence where it takes one.
async fn target(world: &World, route: &Route) -> (String, Value) {
    if !route.path.contains("{id}") {
        return (route.path.replace("{instance}", "w-1"), route.good.clone());
    }
    let held = world.running(&format!("k{}", route.path.len())).await;
    let verb = route.path.rsplit('/').next().unwrap();
    if verb == "replay" {
        world.post(&held.path("complete"), &held.call(json!({}))).await;
    }
    let takes_fence = route.fields.iter().any(|field| field.name == "lease_epoch");
    let body = if takes_fence { held.call(route.good.clone()) } else { route.good.clone() };
    (held.path(verb), body)
}

#[tokio::test]
async fn every_route_that_takes_a_body_is_tried_with_bad_ones() {
    let tried: Vec<_> = routes().iter().map(|route| route.path).collect();
    let taking: Vec<_> = ROUTES.iter().filter(|(method, _)| *method == "post").map(|(_, path)| *path).collect();
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

#[tokio::test]
async fn a_body_that_is_not_an_object_of_json_is_refused() {
    let world = World::start().await;
    for route in routes() {
        let (path, good) = target(&world, &route).await;
        for broken in ["{", "nonsense", "{\"kind\":}", "{'kind':'k'}", "{} {}", "{\"kind\":\"\u{1}\"}", "\u{feff}{}"] {
            let reply = unchanged(&world, broken, world.post_text(&path, broken)).await;
            reply.assert_refused(400, "invalid_json", None);
        }
        for other in ["[]", "[\"k\"]", "5", "null", "\"k\"", "true"] {
            let reply = unchanged(&world, other, world.post_text(&path, other)).await;
            reply.assert_refused(400, "invalid_input", None);
        }
        let latin1 = vec![b'{', b'"', 0xe9, b'"', b':', b'1', b'}'];
        let reply = unchanged(&world, "latin1", world.post_text(&path, latin1)).await;
        assert_eq!(reply.status, 400, "{reply:?}");

        let text = good.to_string();
        for said in ["text/plain", "application/x-www-form-urlencoded", "application/xml", "json"] {
            let request = world.request(Method::POST, &path).header("content-type", said).body(text.clone());
            let reply = unchanged(&world, said, answer(request)).await;
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
    let said = world.request(Method::POST, "/v1/executions").header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(answer(said.body("{\"kind\":\"k\"}")).await.status, 201);
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
async fn what_is_wrong_inside_a_field_is_named_by_its_path() {
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
    let mut queries = vec![
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
        ("/v1/workers/w-1/control".to_owned(), "wait_ms=-1", "invalid_input", "wait_ms"),
        ("/v1/workers/w-1/control".to_owned(), "after=x", "invalid_cursor", "after"),
    ];
    for (_, path) in ROUTES.iter().filter(|(method, _)| *method == "get") {
        let id = held.0["execution_id"].as_str().unwrap();
        let path = path.replace("{id}", id).replace("{instance}", "w-1").replace("{code}", "stale_lease");
        queries.push((path, "colour=red", "unknown_field", "colour"));
    }
    for (path, query, code, field) in queries {
        let address = format!("{path}?{query}");
        let reply = unchanged(&world, &address, world.get(&address)).await;
        reply.assert_refused(400, code, Some(field));
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let world = World::start().await;
    for path in ["/", "/v1", "/v2/executions", "/v1/executions/a/b/c", "/healthz/", "/errors/none", "/errors/%ff"] {
        world.get(path).await.assert_refused(404, "not_found", None);
    }
    let refused = world.get("/nowhere").await;
    let meaning = world.get(&refused.text("type")).await;
    assert_eq!((meaning.status.as_u16(), &meaning.body["title"]), (200, &refused.body["title"]));
    let deleted = answer(world.request(Method::DELETE, "/v1/executions")).await;
    deleted.assert_refused(405, "method_not_allowed", None);
    assert!(deleted.headers.contains_key("allow"), "{deleted:?}");
}
