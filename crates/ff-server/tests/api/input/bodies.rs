//! The body of every route with invalid values, and targets for these requests.

use ff_server::ROUTES;
use serde_json::{Value, json};

use crate::document;
use crate::document::Property;
use crate::input::{flow_bodies, operator_bodies};
use crate::world::World;

/// A route, with a valid body and the fields of its body.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// A valid body.
    pub(crate) good: Value,
    /// The fields, each with values of the wrong type or shape.
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) code: &'static str,
    pub(crate) wrong: Vec<Value>,
}

pub(crate) fn field(name: &'static str, wrong: Value) -> Field {
    let Value::Array(wrong) = wrong else { panic!("a list of wrong values") };
    Field { name, required: false, code: "invalid_input", wrong }
}

pub(crate) fn required(name: &'static str, wrong: Value) -> Field {
    Field { required: true, ..field(name, wrong) }
}

pub(crate) fn coded(code: &'static str, name: &'static str, wrong: Value) -> Field {
    Field { code, ..field(name, wrong) }
}

/// Returns a name field, with values that are not valid names.
pub(crate) fn name(name: &'static str) -> Field {
    field(name, json!([5, true, [], {}, "", "a b", "a:b", "{a}", "é"]))
}

pub(crate) fn text(name: &'static str) -> Field {
    field(name, json!([5, true, [], {}]))
}

pub(crate) fn count(name: &'static str) -> Field {
    field(name, json!(["5", true, -1, 1.5, 1e30, [], {}]))
}

/// Returns the fields of a fence, as in a holder's call.
fn fence() -> Vec<Field> {
    let id = json!([5, "", "nope", "018F3C5E-7A10-7C31-9C45-0D3F7C1A2B3C", "018f3c5e7a107c319c450d3f7c1a2b3c"]);
    let mut fence = vec![field("lease_id", id.clone()), count("lease_epoch"), field("attempt_id", id)];
    for part in &mut fence {
        part.wrong.push(json!([]));
    }
    fence
}

pub(crate) fn with_fence(more: Vec<Field>) -> Vec<Field> {
    fence().into_iter().chain(more).collect()
}

/// Returns a field whose value is one of a fixed set of words.
pub(crate) fn word(name: &'static str) -> Field {
    field(name, json!([5, true, "nonsense", "", [], {}]))
}

/// Returns a field with text that the caller chooses.
pub(crate) fn free_text(name: &'static str) -> Field {
    field(name, json!([5, true, "", "a\u{0}b", [], {}]))
}

pub(crate) fn fence_id(name: &'static str) -> Field {
    Field { name, ..fence().remove(0) }
}

/// Returns the fields of an operator's decision.
fn decide() -> Vec<Field> {
    vec![
        fence_id("suspension_id"),
        text("reason"),
        free_text("requested_by"),
        count("resume_delay_ms"),
        field("payload_base64", json!([5, "*", "YQ", [], {}])),
        field("content_type", json!([5, "", "a\nb", "image/png", [], {}])),
    ]
}

/// Returns every route with a JSON body. Routes that are not listed here are tested as docs/openapi.json describes them.
pub(crate) fn routes() -> Vec<Route> {
    let steer = || vec![text("reason"), text("requested_by")];
    let mut replay = steer();
    replay.push(field("reopen_downstream", json!([5, "true", [], {}])));
    replay.push(field("from_step", json!([5, "a", [], true])));
    let routes = vec![
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
                field("trace", json!([5, true, "x", [], ["x"]])),
            ],
        },
        Route {
            path: "/v1/executions/batch",
            good: json!({"executions": [{"kind": "k"}]}),
            fields: vec![required("executions", json!([5, "x", {}, null]))],
        },
        Route {
            path: "/v1/worker/batch",
            good: json!({"calls": []}),
            fields: vec![required("calls", json!([5, "x", {}, null]))],
        },
        Route { path: "/v1/executions/{id}/cancel", good: json!({"reason": "r"}), fields: steer() },
        Route { path: "/v1/executions/{id}/replay", good: json!({"reason": "r"}), fields: replay },
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
            path: "/v1/executions/{id}/usage",
            good: json!({"report_id": "a", "amounts": {"tokens": 1}}),
            fields: with_fence(vec![
                required("report_id", json!([5, "", "a\u{0}b", [], {}])),
                required("amounts", json!([5, "", true, []])),
            ]),
        },
        Route {
            path: "/v1/executions/{id}/frames",
            good: json!({"frames": [{"text": "a"}]}),
            fields: with_fence(vec![
                required("frames", json!([5, "a", {}, []])),
                count("from"),
                word("mode"),
                count("max_frames"),
                count("max_bytes"),
            ]),
        },
        Route {
            path: "/v1/executions/{id}/steps",
            good: json!({"name": "a"}),
            fields: with_fence(vec![
                required("name", json!([5, "", "a\nb", [], {}])),
                field("key", json!([5, "a\nb", [], {}])),
                word("kind"),
                field("started_at", json!(["soon", true, -1, 1.5, [], {}])),
                field("result_base64", json!([5, "*", [], {}])),
                field("content_type", json!([5, "", "a\nb", [], {}])),
                field("failure", json!([5, "m", true])),
            ]),
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
            path: "/v1/executions/{id}/suspend",
            good: json!({"waitpoints": [{"key": "a"}]}),
            fields: with_fence(vec![
                required("waitpoints", json!([5, "a", {}, []])),
                field("condition", json!([5, "x", [], ["operator_only"]])),
                free_text("reason"),
                free_text("requested_by"),
                field("timeout_in_ms", json!(["5", true, -1, 1.5, 0, [], {}])),
                field("timeout_at", json!(["soon", true, 1.5, 1, [], {}])),
                word("timeout_behavior"),
                coded("invalid_policy_json", "resume_policy", json!([5, true, "x", [], [1]])),
                text("continuation"),
                free_text("idempotency_key"),
                count("dedup_ttl_ms"),
            ]),
        },
        Route {
            path: "/v1/executions/{id}/waitpoints",
            good: json!({"key": "ahead"}),
            fields: with_fence(vec![
                required("key", free_text("key").wrong.into()),
                field("expires_in_ms", json!(["5", true, -1, 1.5, 0, [], {}])),
            ]),
        },
        Route { path: "/v1/executions/{id}/resume", good: json!({}), fields: decide() },
        Route { path: "/v1/executions/{id}/approve", good: json!({}), fields: decide() },
        Route { path: "/v1/executions/{id}/reject", good: json!({}), fields: decide() },
        Route {
            path: "/v1/executions/{id}/waitpoints/{waitpoint}/close",
            good: json!({"reason": "r"}),
            fields: vec![text("reason")],
        },
        Route {
            path: "/v1/executions/{id}/signals",
            good: json!({"name": "n"}),
            fields: vec![
                fence_id("waitpoint_id"),
                free_text("waitpoint_key"),
                field("waitpoint_token", json!([5, true, [], {}, null])),
                required("name", name("name").wrong.into()),
                field("source", json!([5, "x", [], ["bank"]])),
                field("payload_base64", json!([5, "*", "YQ", [], {}])),
                field("content_type", json!([5, "", "a\nb", "image/png", [], {}])),
                free_text("idempotency_key"),
                count("dedup_ttl_ms"),
            ],
        },
        Route {
            path: "/v1/secrets/rotate",
            good: json!({"kid": "k2", "secret_hex": "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e"}),
            fields: vec![
                required("kid", text("kid").wrong.into()),
                coded("invalid_kid", "kid", json!(["", "a:b", "a\u{0}b"])),
                required("secret_hex", json!([5, true, [], {}, null])),
                coded(
                    "invalid_secret_hex",
                    "secret_hex",
                    json!(["", "0", "xy", "00 11", "00".repeat(15), "00".repeat(1_025)]),
                ),
                count("grace_ms"),
            ],
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
    ];
    let mut routes: Vec<_> = routes.into_iter().chain(flow_bodies::routes()).chain(operator_bodies::routes()).collect();
    let described = ROUTES.iter().map(|(_, path, _)| *path).filter(|path| path.starts_with("/v1"));
    for path in described {
        let is_listed = routes.iter().any(|route| route.path == path);
        routes.extend(document::body(path).filter(|_| !is_listed).map(|body| documented(path, body)));
    }
    routes
}

/// Returns a route with the body that docs/openapi.json describes.
fn documented(path: &'static str, body: Vec<Property>) -> Route {
    let fields = body.into_iter().map(|of| Field { required: of.required, ..field(of.name, of.wrong()) });
    Route { path, good: document::sample(path), fields: fields.collect() }
}

/// Returns the path of a route with an existing target, and its body, with the fence or the token if the route needs one.
pub(crate) async fn target(world: &World, route: &Route) -> (String, Value) {
    if route.path.contains("flow") || route.path.ends_with("children") {
        return flow_bodies::target(world, route).await;
    }
    if !route.path.contains("{id}") {
        if route.path.ends_with("heartbeat") {
            world.post("/v1/workers/w-1/register", &json!({"worker_id": "w"})).await;
        }
        if route.path.contains("{schedule}") {
            let daily = json!({"cron": "0 9 * * *", "execution": {"kind": "report"}});
            world.post("/v1/schedules/nightly", &daily).await;
            return (route.path.replace("{schedule}", "nightly"), route.good.clone());
        }
        if route.path.ends_with("{budget}/reset") {
            let budget = json!({"scope": "namespace", "limits": {"tokens": {"hard": 5}}});
            world.post("/v1/budgets/daily", &budget).await;
        }
        if route.path.contains("{key}") {
            let new = world.post("/v1/keys", &json!({"name": "ci", "roles": ["admin"]})).await;
            return (route.path.replace("{key}", &new.text("key_id")), route.good.clone());
        }
        return (
            route
                .path
                .replace("{instance}", "w-1")
                .replace("{lane}", "mail")
                .replace("{quota}", "customers")
                .replace("{budget}", "daily"),
            route.good.clone(),
        );
    }
    let held = world.running(&route.path.replace(|c: char| !c.is_ascii_alphanumeric(), ".")).await;
    let verb = route.path.split_once("{id}/").unwrap().1;
    match verb {
        "replay" => {
            world.post(&held.path("complete"), &held.call(json!({}))).await;
        }
        "assign" => {
            world.post(&held.path("revoke"), &json!({})).await;
        }
        "resume" | "approve" | "reject" => {
            held.suspend(world, json!({"waitpoints": [{"key": "a"}]})).await;
        }
        "signals" => {
            let mut body = held.ahead(world, "a").await;
            body["name"] = route.good["name"].clone();
            return (held.path(verb), body);
        }
        "waitpoints/{waitpoint}/close" => {
            let ahead = held.ahead(world, "a").await;
            let verb = verb.replace("{waitpoint}", ahead["waitpoint_id"].as_str().unwrap());
            return (held.path(&verb), route.good.clone());
        }
        _ => {}
    }
    let takes_fence = route.fields.iter().any(|field| field.name == "lease_epoch");
    let body = if takes_fence { held.call(route.good.clone()) } else { route.good.clone() };
    (held.path(verb), body)
}
