//! Ids in paths: raw or percent-encoded, and refused if they are invalid.

use ff_server::ROUTES;
use reqwest::Method;
use serde_json::json;

use crate::document;
use crate::input::bodies::good;
use crate::world::{World, answer};

const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

#[tokio::test]
async fn a_malformed_id_is_refused_by_every_route_and_an_unknown_one_not_found() {
    let world = World::start().await;
    let cases = [
        ("nope".to_owned(), 400, "invalid_execution_id", Some("execution_id")),
        (UUID.to_owned(), 400, "invalid_execution_id", Some("execution_id")),
        (format!("%7Bfp:x%7D:{UUID}"), 400, "invalid_execution_id", Some("execution_id")),
        (format!("%7Bfp:1%7D:{}", UUID.to_uppercase()), 400, "invalid_execution_id", Some("execution_id")),
        (format!("%7Bfp:4%7D:{UUID}"), 400, "invalid_execution_id", Some("execution_id")),
        ("%ff".to_owned(), 400, "invalid_execution_id", Some("execution_id")),
        (format!("%7Bfp:3%7D:{UUID}"), 404, "execution_not_found", None),
    ];
    let before = world.contents().await;
    let fence = json!({"lease_id": UUID, "lease_epoch": 1, "attempt_id": UUID});
    let routes = ROUTES.iter().filter(|(_, path, _)| path.contains("{id}") && !path.starts_with("/approvals"));
    for (method, path, _) in routes {
        for (id, status, code, field) in &cases {
            let address = path.replace("{id}", id).replace("{waitpoint}", UUID).replace("{signal}", UUID);
            let reply = if *method == "get" {
                world.get(&address).await
            } else {
                let mut body = if document::takes_fence(path) { fence.clone() } else { json!({}) };
                let signal = json!({"name": "n", "waitpoint_id": UUID, "waitpoint_token": "k1:00"});
                let more = if path.ends_with("/signals") { signal } else { good(path) };
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                world.post(&address, &body).await
            };
            if *status == 404 && *method == "post" && path.ends_with("/signals") {
                reply.assert_refused(403, "invalid_token", None);
            } else {
                reply.assert_refused(*status, code, *field);
            }
        }
    }
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn a_malformed_flow_is_refused_by_every_route_and_an_unknown_one_not_found() {
    let world = World::start().await;
    let before = world.contents().await;
    let cases = [
        ("nope", 400, "invalid_input", Some("flow_id")),
        ("018F3C5E-7A10-7C31-9C45-0D3F7C1A2B3C", 400, "invalid_input", Some("flow_id")),
        ("%ff", 400, "invalid_input", Some("flow_id")),
        (UUID, 404, "flow_not_found", None),
    ];
    for (method, route, _) in ROUTES.iter().filter(|(_, path, _)| path.contains("{flow}")) {
        for (id, status, code, field) in &cases {
            let path = route.replace("{flow}", id).replace("{node}", "a");
            let reply = if *method == "get" { world.get(&path).await } else { world.post(&path, &good(route)).await };
            reply.assert_refused(*status, code, *field);
        }
    }
    let named = world.post(&format!("/v1/flows/{UUID}/nodes/a%20b/replay"), &json!({})).await;
    named.assert_refused(400, "invalid_input", Some("node"));
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn an_id_may_be_written_raw_or_encoded() {
    let world = World::start().await;
    let id = world.submit(&json!({"kind": "k"})).await;
    let encoded = id.replace('{', "%7B").replace('}', "%7D").replace(':', "%3A");
    for text in [&id, &encoded] {
        let reply = world.get(&format!("/v1/executions/{text}")).await;
        assert_eq!((reply.status.as_u16(), reply.text("execution_id")), (200, id.clone()));
    }
}

#[tokio::test]
async fn an_instance_has_a_name() {
    let world = World::start().await;
    for (instance, code) in [
        ("a%20b".to_owned(), "invalid_input"),
        ("%ff".to_owned(), "invalid_input"),
        ("i".repeat(129), "limit_exceeded"),
    ] {
        let control = world.get(&format!("/v1/workers/{instance}/control")).await;
        control.assert_refused(400, code, Some("worker_instance_id"));
        let claim = world.post(&format!("/v1/workers/{instance}/claim"), &json!({"worker_id": "w"})).await;
        claim.assert_refused(400, code, Some("worker_instance_id"));
    }
}

#[tokio::test]
async fn health_says_nothing_but_that() {
    let world = World::start().await;
    let reply = world.get("/healthz").await;
    assert_eq!((reply.status.as_u16(), reply.body), (200, json!({"status": "ok"})));
}

#[tokio::test]
async fn a_page_from_elsewhere_and_a_name_from_elsewhere_are_refused() {
    let world = World::start().await;
    let submit = || world.request(Method::POST, "/v1/executions").body("{\"kind\":\"k\"}");
    let before = world.contents().await;
    let page = answer(submit().header("origin", "https://example.org")).await;
    page.assert_refused(403, "unauthorized", Some("Origin"));
    let rebound = answer(submit().header("host", "rebound.example.org:7070")).await;
    rebound.assert_refused(403, "unauthorized", Some("Host"));
    assert!(world.contents().await == before);
    assert_eq!(answer(submit().header("origin", "http://localhost:3000")).await.status, 201);
}
