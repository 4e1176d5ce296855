//! Flows over HTTP: complete graphs, their views, and operator calls.

use ff_api::FLOW_BODY_BYTES;
use ff_core::limits;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, answer};

/// Returns a flow of two members and a third that waits for both.
fn fan_in() -> Value {
    json!({
        "kind": "etl",
        "tags": {"customer": "c-17"},
        "nodes": {
            "orders": {"kind": "fetch", "payload": {"table": "orders"}},
            "prices": {"kind": "fetch", "payload_base64": "AP8=", "lane": "default", "priority": 9},
            "merge": {
                "kind": "merge",
                "after": [{"node": "orders", "passes": {"input": "orders"}}, {"node": "prices", "passes": "payload"}],
            },
        },
    })
}

#[tokio::test]
async fn a_flow_runs_from_its_submission_to_its_end() {
    let world = World::start().await;
    let submitted = world.post("/v1/flows", &fan_in()).await;
    assert_eq!(submitted.status, 201, "{submitted:?}");
    let flow = submitted.text("flow_id");
    assert_eq!(submitted.headers["location"], format!("/v1/flows/{flow}"));
    let expected = json!({
        "flow_id": flow, "state": "open", "nodes": 3, "edges": 2, "graph_revision": 1, "duplicate": false,
    });
    assert_eq!(submitted.body, expected);

    let prices = world.claim("fetch").await;
    assert_eq!((&prices.0["flow"]["node"], &prices.0["flow"]["flow_id"]), (&json!("prices"), &json!(flow)));
    prices.complete(&world, json!([1, 2])).await;
    let orders = world.claim("fetch").await;
    orders.complete(&world, json!({"n": 3})).await;
    let merge = world.claim("merge").await;
    assert_eq!((&merge.0["payload"], &merge.0["flow"]["inputs"]), (&json!([1, 2]), &json!(1)));
    let input = &merge.0["inputs"][0];
    assert_eq!((&input["name"], &input["payload"]), (&json!("orders"), &json!({"n": 3})));
    assert_eq!(input["from"], orders.0["execution_id"]);

    let path = format!("/v1/flows/{flow}?wait_ms=60000&graph=0");
    let (ended, ()) = tokio::join!(world.get(&path), merge.complete(&world, json!("done")));
    assert_eq!((&ended.body["state"], &ended.body["counts"]), (&json!("completed"), &json!({"completed": 3})));
    assert!(ended.body["graph"].is_null() && ended.body["ended_at"].is_i64(), "{ended:?}");
}

#[tokio::test]
async fn a_flow_is_shown_with_its_graph_or_a_requested_part_of_it() {
    let world = World::start().await;
    let flow = world.flow(&fan_in()).await;
    let shown = world.get(&format!("/v1/flows/{flow}")).await.body;
    assert_eq!((&shown["nodes"], &shown["edges"], &shown["tags"]["customer"]), (&json!(3), &json!(2), &json!("c-17")));
    let members = shown["graph"]["members"].as_array().unwrap();
    let states: Vec<_> = members.iter().map(|member| (&member["node"], &member["public_state"])).collect();
    let (waiting, blocked) = (json!("waiting"), json!("waiting_children"));
    assert_eq!(states[2], (&json!("merge"), &blocked));
    assert!(states[..2].iter().all(|(_, state)| **state == waiting), "{states:?}");
    let group = json!({
        "join": {"type": "all_of"}, "state": "pending", "n": 2, "succeeded": 0, "failed": 0, "skipped": 0,
    });
    assert_eq!(members[2]["group"], group);
    assert_eq!(shown["graph"]["edges"].as_array().unwrap().len(), 2);
    assert!(shown["graph"].get("next_member").is_none() && shown["graph"].get("next_edge").is_none());

    let part = world.get(&format!("/v1/flows/{flow}?graph=1")).await.body["graph"].clone();
    let (from, after) = (part["next_member"].as_u64().unwrap(), part["next_edge"].as_str().unwrap());
    let rest = world.get(&format!("/v1/flows/{flow}/members?from={from}")).await.body;
    assert_eq!(rest["members"].as_array().unwrap()[..], members[1..]);
    let edges = world.get(&format!("/v1/flows/{flow}/edges?after={after}")).await.body;
    assert_eq!(edges["edges"].as_array().unwrap()[..], shown["graph"]["edges"].as_array().unwrap()[1..]);
    let execution = members[0]["execution_id"].as_str().unwrap();
    let described = world.get(&format!("/v1/executions/{execution}")).await.body;
    assert_eq!((&described["flow_id"], &described["node"]), (&json!(flow), &members[0]["node"]));
}

#[tokio::test]
async fn the_same_flow_again_is_answered_as_such_and_another_is_refused() {
    let world = World::start().await;
    let keyed =
        |key: &str, new: &Value| world.request(Method::POST, "/v1/flows").header("idempotency-key", key).json(new);
    let first = answer(keyed("nightly", &fan_in())).await;
    let again = answer(keyed("nightly", &fan_in())).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!((&again.body["flow_id"], &again.body["duplicate"]), (&first.body["flow_id"], &json!(true)));
    let mut other = fan_in();
    other["nodes"]["orders"]["payload"] = json!("something else");
    let refused = answer(keyed("nightly", &other)).await;
    refused.assert_refused(409, "idempotency_conflict", Some("flow_id"));
    other["idempotency_key"] = json!("weekly");
    let two = answer(keyed("nightly", &other)).await;
    two.assert_refused(400, "invalid_input", Some("idempotency_key"));
    other["flow_id"] = first.body["flow_id"].clone();
    let both = world.post("/v1/flows", &other).await;
    both.assert_refused(400, "invalid_input", Some("idempotency_key"));
}

#[tokio::test]
async fn a_wrong_graph_is_refused_by_its_field_and_writes_nothing() {
    let world = World::start().await;
    let before = world.contents().await;
    let node = |after: Value| json!({"kind": "k", "after": after});
    for (nodes, status, code, field) in [
        (json!({"a": node(json!(["b"])), "b": node(json!(["a"]))}), 409, "cycle_detected", "edges."),
        (json!({"a": node(json!(["a"]))}), 400, "self_referencing_edge", "edges.a->a"),
        (json!({"a": node(json!(["x"]))}), 409, "execution_not_in_flow", "edges.x->a"),
        (json!({"a": node(json!([])), "b": node(json!(["a", "a"]))}), 409, "dependency_already_exists", "edges.a->b"),
        (json!({"a": {"kind": "k", "join": {"type": "quorum", "k": 0}}}), 400, "invalid_input", "nodes.a.join"),
        (json!({"a": {"kind": "k", "join": "any_of"}}), 400, "invalid_input", "nodes.a.join"),
        (json!({"a": {"kind": "k", "priority": 9_001}}), 400, "limit_exceeded", "nodes.a.priority"),
        (json!({"a": {"kind": "k", "delay_ms": limits::SPAN_MAX_MS + 1}}), 400, "limit_exceeded", "nodes.a.delay_ms"),
        (json!({"a": {"kind": "k", "policy": {"retry": 1}}}), 400, "invalid_policy_json", "nodes.a.policy.retry"),
        (json!({"a": {"kind": "k", "tags": {"t": 5}}}), 400, "invalid_input", "nodes.a.tags.t"),
        (json!({"a b": {"kind": "k"}}), 400, "invalid_input", "nodes.a b"),
    ] {
        let reply = world.post("/v1/flows", &json!({"kind": "f", "nodes": nodes})).await;
        let actual = reply.body["field"].as_str().unwrap_or_default().to_owned();
        reply.assert_refused(status, code, Some(&actual));
        assert!(actual.starts_with(field), "{actual} for {nodes}");
    }
    let twice = r#"{"kind":"f","nodes":{"a":{"kind":"k"},"a":{"kind":"k"}}}"#;
    world.post_text("/v1/flows", twice).await.assert_refused(409, "execution_already_in_flow", Some("nodes.a"));
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn a_flow_at_its_limits_is_taken_and_one_past_any_is_refused() {
    let world = World::start().await;
    let sized = |nodes: usize| {
        let nodes: serde_json::Map<_, _> = (0..nodes).map(|n| (format!("n{n}"), json!({"kind": "k"}))).collect();
        json!({"kind": "f", "nodes": nodes})
    };
    let past = world.post("/v1/flows", &sized(limits::FLOW_NODES + 1)).await;
    past.assert_refused(400, "limit_exceeded", Some("nodes"));
    assert_eq!((&past.body["limit"], &past.body["sent"]), (&json!(10_000), &json!(10_001)));
    let taken = world.post("/v1/flows", &sized(limits::FLOW_NODES)).await;
    assert_eq!((taken.status.as_u16(), &taken.body["nodes"]), (201, &json!(10_000)));

    let flow = world.flow(&sized(1)).await;
    let mut growth = sized(limits::FLOW_CALL_NODES + 2);
    growth.as_object_mut().unwrap().remove("kind");
    let nodes = growth["nodes"].as_object_mut().unwrap();
    nodes.remove("n0");
    let past = world.post(&format!("/v1/flows/{flow}/grow"), &growth).await;
    past.assert_refused(400, "limit_exceeded", Some("nodes"));
    growth["nodes"].as_object_mut().unwrap().remove("n1");
    assert_eq!(world.post(&format!("/v1/flows/{flow}/grow"), &growth).await.status, 200);

    let padded = |bytes: usize| {
        let text = sized(1).to_string();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    assert_eq!(world.post_text("/v1/flows", padded(FLOW_BODY_BYTES)).await.status, 201);
    let past = world.post_text("/v1/flows", padded(FLOW_BODY_BYTES + 1)).await;
    past.assert_refused(413, "payload_too_large", Some("body"));
}

#[tokio::test]
async fn flows_are_listed_by_what_they_are_and_in_pages() {
    let world = World::start().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(world.flow(&fan_in()).await);
    }
    world.flow(&json!({"kind": "other", "nodes": {"a": {"kind": "k"}}})).await;
    world.flow(&json!({"kind": "etl", "namespace": "acme", "nodes": {"a": {"kind": "k"}}})).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/v1/flows?kind=etl&state=open&tag=customer:c-17&limit=2{cursor}")).await.body;
        seen.extend(page["flows"].as_array().unwrap().iter().map(|flow| flow["flow_id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    seen.sort();
    ids.sort();
    assert_eq!(seen, ids);
    let count = |query: &'static str| {
        let world = &world;
        async move { world.get(&format!("/v1/flows?{query}")).await.body["flows"].as_array().unwrap().len() }
    };
    assert_eq!((count("").await, count("namespace=acme").await, count("tag=customer:c-18").await), (4, 1, 0));
    assert_eq!((count("state=completed").await, count("kind=other").await), (0, 1));
}

#[tokio::test]
async fn a_flow_held_open_is_grown_tagged_and_closed() {
    let world = World::start().await;
    let flow = world.flow(&json!({"kind": "grown", "held_open": true})).await;
    let path = |verb: &str| format!("/v1/flows/{flow}/{verb}");
    let growth = json!({
        "expected_graph_revision": 0,
        "nodes": {"a": {"kind": "k"}, "b": {"kind": "k", "after": ["a"]}},
        "idempotency_key": "first",
    });
    let grown = world.post(&path("grow"), &growth).await;
    assert_eq!((grown.status.as_u16(), &grown.body["graph_revision"]), (200, &json!(1)), "{grown:?}");
    assert_eq!(grown.body["members"].as_array().unwrap().len(), 2);
    assert_eq!(grown.body["edges"][0][1], "pending");
    assert_eq!(world.post(&path("grow"), &growth).await.body, grown.body);
    let members: Vec<_> = grown.body["members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let by_id = json!({"nodes": {"c": {"kind": "k"}}, "edges": [{"upstream": members[1], "downstream": "c"}]});
    assert_eq!(world.post(&path("grow"), &by_id).await.status, 200);
    let stale = json!({"expected_graph_revision": 1, "nodes": {"d": {"kind": "k"}}});
    world.post(&path("grow"), &stale).await.assert_refused(
        409,
        "stale_graph_revision",
        Some("expected_graph_revision"),
    );
    let cycle = json!({"edges": [{"upstream": "c", "downstream": "b"}]});
    world.post(&path("grow"), &cycle).await.assert_refused(409, "cycle_detected", Some("edges.c->b"));

    let tagged = world.post(&path("tags"), &json!({"tags": {"team": "data"}})).await;
    assert_eq!(tagged.body, json!({"tags": {"team": "data"}}));
    let closed = world.post(&path("close"), &json!({})).await;
    assert_eq!(closed.body, json!({"state": "open", "already": false}));
    assert_eq!(world.post(&path("close"), &json!({})).await.body["already"], true);
}

#[tokio::test]
async fn a_flow_is_cancelled_and_its_end_waited_for() {
    let world = World::start().await;
    let flow = world.flow(&fan_in()).await;
    let held = world.claim("fetch").await;
    let path = format!("/v1/flows/{flow}/cancel");
    let finishing = world.post(&path, &json!({"policy": "let_active_finish", "reason": "enough"})).await;
    assert_eq!(finishing.status, 200, "{finishing:?}");
    assert_eq!((&finishing.body["policy"], &finishing.body["already"]), (&json!("let_active_finish"), &json!(false)));
    assert_eq!((&finishing.body["cancelled"], finishing.body.get("end")), (&json!(2), None));
    let none = world.post("/v1/workers/w-2/claim", &json!({"worker_id": "w"})).await;
    assert_eq!(none.body["executions"], json!([]), "nothing starts any more");
    let (waited, all) = (format!("{path}?wait_ms=60000"), json!({"policy": "cancel_all"}));
    let stopped = world.post(&waited, &all).await;
    assert_eq!((&stopped.body["end"]["state"], &stopped.body["cancelled"]), (&json!("cancelled"), &json!(1)));
    let late = world.post(&held.path("complete"), &held.call(json!({}))).await;
    assert_eq!(late.status, 409, "{late:?}");
    let shown = world.get(&format!("/v1/flows/{flow}")).await.body;
    assert_eq!(shown["counts"], json!({"cancelled": 3}));
    world.post(&format!("{path}?wait_ms=60001"), &json!({})).await.assert_refused(
        400,
        "limit_exceeded",
        Some("wait_ms"),
    );
}

#[tokio::test]
async fn a_node_is_replayed_with_what_depends_on_it() {
    let world = World::start().await;
    let nodes = json!({"a": {"kind": "k"}, "b": {"kind": "k", "after": ["a"]}});
    let flow = world.flow(&json!({"kind": "f", "nodes": nodes})).await;
    for _ in 0..2 {
        world.claim("k").await.complete(&world, json!(1)).await;
    }
    let path = |node: &str| format!("/v1/flows/{flow}/nodes/{node}/replay");
    let replayed = world.post(&path("a"), &json!({"reopen_downstream": true, "reason": "again"})).await;
    assert_eq!((replayed.status.as_u16(), &replayed.body["public_state"]), (200, &json!("waiting")), "{replayed:?}");
    let shown = world.get(&format!("/v1/flows/{flow}")).await.body;
    assert_eq!((&shown["state"], &shown["counts"]), (&json!("running"), &json!({"waiting": 1, "waiting_children": 1})));
    world.post(&path("nobody"), &json!({})).await.assert_refused(404, "execution_not_found", None);
    world.post(&path("b"), &json!({})).await.assert_refused(409, "execution_not_terminal", None);
}

#[tokio::test]
async fn a_holder_adds_children_and_waits_for_them() {
    let world = World::start().await;
    let flow = world.flow(&json!({"kind": "f", "nodes": {"p": {"kind": "p"}}})).await;
    let held = world.claim("p").await;
    let wait = held.path("wait_for_children");
    let none = world.post(&wait, &held.call(json!({}))).await;
    none.assert_refused(409, "invalid_dependency", None);
    let mut holder = held.call(json!({}));
    holder["execution_id"] = held.0["execution_id"].clone();
    let edges = json!([{"upstream": "c", "downstream": "p"}]);
    let growth = json!({"nodes": {"c": {"kind": "c"}}, "edges": edges, "holder": holder});
    assert_eq!(world.post(&format!("/v1/flows/{flow}/grow"), &growth).await.status, 200);
    let waits = world.post(&wait, &held.call(json!({}))).await;
    assert_eq!((waits.status.as_u16(), &waits.body["state"]), (200, &json!("pending")));
    let child = world.claim("c").await;
    child.complete(&world, json!(5)).await;
    let reply = world.post(&child.path("cascade"), &json!({})).await;
    assert_eq!(reply.body, json!({"resolved": 0, "cascaded_children": 0, "more": false}), "it was told by itself");
    let again = world.claim("p").await;
    assert_eq!(again.0["resumed"], true);
    let over = world.post(&again.path("wait_for_children"), &again.call(json!({}))).await;
    assert_eq!(over.body["state"], "satisfied");
    let alone = world.running("alone").await;
    let refused = world.post(&alone.path("wait_for_children"), &alone.call(json!({}))).await;
    refused.assert_refused(409, "execution_not_in_flow", Some("execution_id"));
}
