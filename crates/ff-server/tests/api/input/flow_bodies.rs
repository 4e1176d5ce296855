//! The body of every flow route with invalid values, and targets for these requests.

use serde_json::{Value, json};

use crate::input::bodies::{Route, coded, count, fence_id, field, free_text, name, required, text, with_fence, word};
use crate::world::World;

/// Returns every flow route with a JSON body.
pub(crate) fn routes() -> Vec<Route> {
    let tags = || {
        let keys = json!([{"": "v"}, {"a b": "v"}, {"a:b": "v"}]);
        [required("tags", json!([5, "a", [], ["a"]])), coded("invalid_tag_key", "tags", keys)]
    };
    let [some_tags, tag_keys] = tags();
    vec![
        Route {
            path: "/v1/flows",
            good: json!({"kind": "k", "nodes": {"a": {"kind": "k"}}}),
            fields: vec![
                required("kind", name("kind").wrong.into()),
                required("nodes", json!([5, "a", [], ["a"], {}, null])),
                name("namespace"),
                fence_id("flow_id"),
                free_text("idempotency_key"),
                field("tags", some_tags.wrong.into()),
                coded("invalid_tag_key", "tags", tag_keys.wrong.into()),
                field("held_open", json!([5, "true", [], {}, true])),
                field("trace", json!([5, true, "x", [], ["x"]])),
            ],
        },
        Route {
            path: "/v1/flows/{flow}/grow",
            good: json!({"nodes": {"b": {"kind": "k"}}}),
            fields: vec![
                required("nodes", json!([5, "a", [], ["a"], {}])),
                field("edges", json!([5, "a", {}])),
                field("joins", json!([5, "a", {}])),
                field("holder", json!([5, "a", [], ["x"]])),
                count("expected_graph_revision"),
                free_text("idempotency_key"),
            ],
        },
        Route { path: "/v1/flows/{flow}/close", good: json!({}), fields: vec![] },
        Route {
            path: "/v1/flows/{flow}/cancel",
            good: json!({"reason": "r"}),
            fields: vec![word("policy"), text("reason"), text("requested_by")],
        },
        Route { path: "/v1/flows/{flow}/tags", good: json!({"tags": {"a": "b"}}), fields: tags().into() },
        Route {
            path: "/v1/flows/{flow}/nodes/{node}/replay",
            good: json!({"reason": "r"}),
            fields: vec![text("reason"), text("requested_by"), field("reopen_downstream", json!([5, "true", [], {}]))],
        },
        Route { path: "/v1/executions/{id}/wait_for_children", good: json!({}), fields: with_fence(vec![]) },
        Route { path: "/v1/executions/{id}/cascade", good: json!({}), fields: vec![] },
    ]
}

/// Returns the path of a route with a flow of one running member that has added a child, and its body, with the fence if the
/// route needs one.
pub(crate) async fn target(world: &World, route: &Route) -> (String, Value) {
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
