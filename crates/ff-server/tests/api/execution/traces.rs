//! Traces: from headers or fields, and which of them takes precedence.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::world::{World, answer};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER: &str = "00-11111111111111111111111111111111-b7ad6b7169203331-00";

/// Submits with these headers, and returns the stored trace.
async fn stored_trace(world: &World, headers: &[(&str, &str)], new: Value) -> Value {
    let reply = answer(with(world.request(Method::POST, "/v1/executions"), headers).json(&new)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    trace_of(world, &reply.text("execution_id")).await
}

fn with(request: RequestBuilder, headers: &[(&str, &str)]) -> RequestBuilder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

async fn trace_of(world: &World, id: &str) -> Value {
    world.get(&format!("/v1/executions/{id}")).await.body["trace"].clone()
}

#[tokio::test]
async fn the_headers_of_a_submission_are_kept_and_handed_out() {
    let world = World::start().await;
    let headers = [("traceparent", PARENT), ("tracestate", "rojo=1 , "), ("TraceState", "congo=2")];
    let expected = json!({"traceparent": PARENT, "tracestate": "rojo=1,congo=2"});
    assert_eq!(stored_trace(&world, &headers, json!({"kind": "k"})).await, expected);
    assert_eq!(world.claim("k").await.0["trace"], expected);
}

#[tokio::test]
async fn headers_that_cannot_be_read_are_as_if_they_were_not_there() {
    let world = World::start().await;
    let zero = PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
    for parent in ["", "nonsense", &PARENT.to_uppercase(), &zero, &PARENT[..54]] {
        let headers = [("traceparent", parent), ("tracestate", "rojo=1")];
        assert_eq!(stored_trace(&world, &headers, json!({"kind": "k"})).await, Value::Null, "{parent}");
    }
    let twice = [("traceparent", PARENT), ("traceparent", OTHER)];
    assert_eq!(stored_trace(&world, &twice, json!({"kind": "k"})).await, Value::Null);
    assert_eq!(stored_trace(&world, &[("tracestate", "rojo=1")], json!({"kind": "k"})).await, Value::Null);
    let bad_state = [("traceparent", PARENT), ("tracestate", "no list")];
    assert_eq!(stored_trace(&world, &bad_state, json!({"kind": "k"})).await, json!({"traceparent": PARENT}));
}

#[tokio::test]
async fn a_field_counts_before_the_headers_and_must_be_sound() {
    let world = World::start().await;
    let field = json!({"kind": "k", "trace": {"traceparent": OTHER, "tracestate": "rojo=1"}});
    assert_eq!(stored_trace(&world, &[("traceparent", PARENT)], field.clone()).await, field["trace"]);
    for (trace, code, field) in [
        (json!({"traceparent": "nonsense"}), "invalid_input", "trace.traceparent"),
        (json!({"traceparent": PARENT, "tracestate": "no list"}), "invalid_input", "trace.tracestate"),
        (json!({"traceparent": PARENT, "tracestate": "a".repeat(513)}), "limit_exceeded", "trace.tracestate"),
        (json!({"tracestate": "rojo=1"}), "invalid_input", "trace.traceparent"),
        (json!({"traceparent": PARENT, "baggage": "x"}), "unknown_field", "trace.baggage"),
    ] {
        let refused = world.post("/v1/executions", &json!({"kind": "k", "trace": trace})).await;
        let status = refused.status.as_u16();
        refused.assert_refused(status, code, Some(field));
        assert!((400..500).contains(&status));
    }
}

#[tokio::test]
async fn a_batch_is_in_the_trace_of_its_request_unless_one_names_its_own() {
    let world = World::start().await;
    let batch = json!({"executions": [{"kind": "k"}, {"kind": "k", "trace": {"traceparent": OTHER}}]});
    let request = world.request(Method::POST, "/v1/executions/batch").header("traceparent", PARENT);
    let reply = answer(request.json(&batch)).await;
    for (nth, parent) in [PARENT, OTHER].into_iter().enumerate() {
        let id = reply.body["results"][nth]["execution_id"].as_str().unwrap();
        assert_eq!(trace_of(&world, id).await["traceparent"], parent);
    }
}

#[tokio::test]
async fn a_flow_is_in_the_trace_of_its_request() {
    let world = World::start().await;
    let request = world.request(Method::POST, "/v1/flows").header("traceparent", PARENT);
    let flow = answer(request.json(&json!({"kind": "f", "nodes": {"a": {"kind": "member"}}}))).await.text("flow_id");
    assert_eq!(world.get(&format!("/v1/flows/{flow}")).await.body["trace"]["traceparent"], PARENT);
    assert_eq!(world.claim("member").await.0["trace"]["traceparent"], PARENT);
    let request = world.request(Method::POST, "/v1/flows").header("traceparent", PARENT);
    let open = answer(request.json(&json!({"kind": "f", "held_open": true}))).await.text("flow_id");
    let grown = json!({"nodes": {"a": {"kind": "grown"}}});
    assert_eq!(world.post(&format!("/v1/flows/{open}/grow"), &grown).await.status, 200);
    assert_eq!(world.claim("grown").await.0["trace"]["traceparent"], PARENT);
}
