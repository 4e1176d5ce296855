//! The body of every route with invalid values, and targets for these requests.

use ff_server::ROUTES;
use serde_json::{Value, json};

use crate::document;
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

/// Returns a valid body for a route, where the required fields in docs/openapi.json are not enough for one.
pub(crate) fn good(path: &str) -> Value {
    match path {
        "/v1/executions/batch" => json!({"executions": [{"kind": "k"}]}),
        "/v1/executions/bulk" => json!({"action": "cancel", "dry_run": true}),
        "/v1/executions/{id}/usage" => json!({"report_id": "a", "amounts": {"tokens": 1}}),
        "/v1/executions/{id}/frames" => json!({"frames": [{"text": "a"}]}),
        "/v1/executions/{id}/complete" => json!({"result": null}),
        "/v1/executions/{id}/delay" => json!({"delay_ms": 1}),
        "/v1/executions/{id}/suspend" => json!({"waitpoints": [{"key": "a"}]}),
        "/v1/executions/{id}/waitpoints" => json!({"key": "ahead"}),
        "/v1/executions/{id}/tags" => json!({"tags": {"team": "blue"}}),
        "/v1/flows" => json!({"kind": "k", "nodes": {"a": {"kind": "k"}}}),
        "/v1/flows/{flow}/grow" => json!({"nodes": {"b": {"kind": "k"}}}),
        "/v1/flows/{flow}/tags" => json!({"tags": {"a": "b"}}),
        "/v1/lanes/{lane}" => json!({"state": "active"}),
        "/v1/quotas/{quota}" => json!({"scope": "namespace", "max_concurrent": 5}),
        "/v1/budgets/{budget}" => json!({"scope": "namespace", "limits": {"tokens": {"hard": 5}}}),
        "/v1/schedules/{schedule}" => json!({"every_ms": 60_000, "execution": {"kind": "report"}}),
        "/v1/schedules/{schedule}/backfill" => json!({"from": 1_000, "to": 2_000}),
        "/v1/secrets/rotate" => json!({"kid": "k2", "secret_hex": "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e"}),
        "/v1/keys" => json!({"name": "ci", "roles": ["admin"]}),
        "/v1/workers/{instance}/claim" => json!({"worker_id": "w"}),
        _ => document::sample(path),
    }
}

/// Returns the invalid values of a route that do not follow from the types in docs/openapi.json.
fn special(path: &str) -> Vec<Field> {
    let tags = || {
        let keys = json!([{"": "v"}, {"a b": "v"}, {"a:b": "v"}]);
        [field("tags", json!([["a"]])), coded("invalid_tag_key", "tags", keys)]
    };
    let content_type = || field("content_type", json!(["image/png"]));
    let scopes = json!(["", "lane:", "queue:a", "tag:a"]);
    match path {
        "/v1/executions" => {
            let [shape, keys] = tags();
            let policy = coded("invalid_policy_json", "policy", json!([5, true, "x", [], [3]]));
            let payload = field("payload_base64", json!(["YQ=", "Y Q=="]));
            let uuid = field("uuid", json!(["{fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c"]));
            vec![shape, keys, policy, payload, uuid, content_type(), field("trace", json!([["x"]]))]
        }
        "/v1/executions/batch" => vec![field("executions", json!([null]))],
        "/v1/worker/batch" => vec![field("calls", json!([null]))],
        "/v1/executions/bulk" => {
            let [shape, keys] = tags();
            let cursor = coded("invalid_cursor", "cursor", json!(["", "x"]));
            vec![shape, keys, cursor, field("action", json!(["", "nonsense"]))]
        }
        "/v1/executions/{id}/tags" | "/v1/flows/{flow}/tags" => tags().into(),
        "/v1/executions/{id}/frames" => vec![field("frames", json!([[]]))],
        "/v1/executions/{id}/steps" => vec![field("started_at", json!([-1]))],
        "/v1/executions/{id}/complete" => vec![content_type(), field("result_base64", json!(["YQ=="]))],
        "/v1/executions/{id}/delay" => vec![field("start_at", json!([5]))],
        "/v1/executions/{id}/suspend" => vec![
            required("waitpoints", json!([[]])),
            field("condition", json!([5, "x", [], ["operator_only"]])),
            field("timeout_in_ms", json!([0])),
            field("timeout_at", json!([1])),
            coded("invalid_policy_json", "resume_policy", json!([5, true, "x", [], [1]])),
        ],
        "/v1/executions/{id}/waitpoints" => vec![field("expires_in_ms", json!([0]))],
        "/v1/executions/{id}/resume" | "/v1/executions/{id}/approve" | "/v1/executions/{id}/reject" => {
            vec![content_type()]
        }
        "/v1/executions/{id}/signals" => {
            vec![content_type(), field("waitpoint_token", json!([null])), field("source", json!([["bank"]]))]
        }
        "/v1/flows" => {
            let [shape, keys] = tags();
            let nodes = required("nodes", json!([["a"], {}, null]));
            vec![shape, keys, nodes, field("held_open", json!([true])), field("trace", json!([["x"]]))]
        }
        "/v1/flows/{flow}/grow" => vec![required("nodes", json!([["a"], {}])), field("holder", json!([["x"]]))],
        "/v1/quotas/{quota}" => vec![field("scope", scopes), field("per", json!(["", "lane", "tag:"]))],
        "/v1/budgets/{budget}" => vec![
            field("scope", scopes),
            field("scope", json!(["execution:7"])),
            field("reset", json!(["", "daily", 5, true, []])),
        ],
        "/v1/schedules/{schedule}" => vec![
            field("cron", json!(["", "61 * * * *", "* * * *", "@often"])),
            field("time_zone", json!(["", "Europe/Berln"])),
        ],
        "/v1/secrets/rotate" => {
            let secrets = json!(["", "0", "xy", "00 11", "00".repeat(15), "00".repeat(1_025)]);
            vec![
                coded("invalid_kid", "kid", json!(["", "a:b", "a\u{0}b"])),
                field("secret_hex", json!([null])),
                coded("invalid_secret_hex", "secret_hex", secrets),
            ]
        }
        "/v1/keys" => vec![field("roles", json!([[]]))],
        "/v1/workers/{instance}/claim" => vec![
            field("lanes", json!([[]])),
            field("max", json!([0])),
            field("partition", json!([4, 65_536])),
            field("encoding", json!(["xml", "JSON"])),
        ],
        _ => Vec::new(),
    }
}

/// Returns every route with a JSON body, and with values that none of its fields takes.
pub(crate) fn routes() -> Vec<Route> {
    let paths = ROUTES.iter().map(|(_, path, _)| *path).filter(|path| path.starts_with("/v1"));
    let with_body = paths.filter_map(|path| Some((path, document::body(path)?)));
    let route = |(path, body): (&'static str, Vec<document::Property>)| {
        // The policy has its own code.
        let body = body.into_iter().filter(|of| of.name != "policy" || path != "/v1/executions");
        let documented = body.map(|of| Field { required: of.required, ..field(of.name, of.wrong().into()) });
        Route { path, good: good(path), fields: documented.chain(special(path)).collect() }
    };
    let mut routes: Vec<_> = with_body.map(route).collect();
    routes.sort_by_key(|route| route.path);
    routes.dedup_by_key(|route| route.path);
    routes
}

/// Returns the path of a route with an existing target, and its body, with the fence or the token if the route needs one.
pub(crate) async fn target(world: &World, route: &Route) -> (String, Value) {
    if route.path.contains("flow") || route.path.ends_with("children") {
        return flow_target(world, route).await;
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

/// Returns the path of a route with a flow of one running member that has added a child, and its body, with the fence if the
/// route needs one.
async fn flow_target(world: &World, route: &Route) -> (String, Value) {
    if route.path == "/v1/flows" {
        return (route.path.to_owned(), route.good.clone());
    }
    let kind = route.path.replace(|c: char| !c.is_ascii_alphanumeric(), ".");
    let flow = world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": kind}}})).await;
    let held = world.claim(&kind).await;
    let mut holder = held.call(json!({}));
    holder["execution_id"] = held.0["execution_id"].clone();
    let child = json!({
        "nodes": {"child": {"kind": "k"}},
        "edges": [{"upstream": "child", "downstream": "a"}],
        "holder": holder,
    });
    let grown = world.post(&format!("/v1/flows/{flow}/grow"), &child).await;
    assert_eq!(grown.status, 200, "{grown:?}");
    if route.path.ends_with("children") {
        return (held.path("wait_for_children"), held.call(json!({})));
    }
    if route.path.ends_with("replay") {
        held.complete(world, json!(1)).await;
    }
    (route.path.replace("{flow}", &flow).replace("{node}", "a"), route.good.clone())
}
