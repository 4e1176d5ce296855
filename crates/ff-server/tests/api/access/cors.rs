//! Pages of configured origins may read streams. They may read nothing else, and other pages may read nothing.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_server::ServerOptions;
use reqwest::{Method, Response};
use serde_json::json;

use crate::keyed::KeyedStore;
use crate::world::{LeasedExecution, World};

const APP: &str = "https://app.example";
const OTHER: &str = "https://other.example";

fn allowing(origins: &[&str]) -> ServerOptions {
    let cors_origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
    ServerOptions { cors_origins, ..ServerOptions::default() }
}

/// Sends a GET request from a page of an origin.
async fn look(world: &World, path: &str, origin: &str) -> Response {
    world.request(Method::GET, path).header("origin", origin).send().await.unwrap()
}

/// Sends the preflight request that a browser sends before it lets a page add headers.
async fn ask(world: &World, path: &str, origin: &str) -> Response {
    let request = world.request(Method::OPTIONS, path).header("origin", origin);
    let request = request.header("access-control-request-method", "GET");
    request.header("access-control-request-headers", "last-event-id").send().await.unwrap()
}

fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

const ALLOWED: &str = "access-control-allow-origin";

async fn keyed(origins: &[&str]) -> (World, LeasedExecution) {
    let (keyed, admin) = KeyedStore::new().await;
    let mut world = World::over_with(keyed.store.clone(), allowing(origins)).await;
    world.key = Some(admin);
    let held = world.running("k").await;
    (world, held)
}

#[tokio::test]
async fn a_page_of_a_configured_origin_may_read_a_stream() {
    let (mut world, held) = keyed(&["http://localhost:3000", "HTTPS://App.Example:443"]).await;
    let token = world.post(&held.path("stream/token"), &json!({})).await.text("token");
    held.complete(&world, json!(1)).await;
    world.key = None;
    let path = format!("{}?token={token}", held.path("stream"));
    let preflight = ask(&world, &path, APP).await;
    assert_eq!(
        (preflight.status().as_u16(), header(&preflight, ALLOWED), header(&preflight, "vary")),
        (204, Some(APP), Some("Origin"))
    );
    assert_eq!(header(&preflight, "access-control-allow-methods"), Some("GET"));
    assert_eq!(header(&preflight, "access-control-allow-headers"), Some("Authorization, Last-Event-ID"));
    let read = world.follow(&path, None).header("origin", APP).send().await.unwrap();
    assert_eq!(
        (read.status().as_u16(), header(&read, ALLOWED), header(&read, "vary")),
        (200, Some(APP), Some("Origin"))
    );
    // A page must be able to tell a refusal from a server that does not respond.
    for (path, status) in [(held.path("stream"), 401), (format!("{}?token=x", held.path("stream")), 403)] {
        let refused = look(&world, &path, APP).await;
        assert_eq!((refused.status().as_u16(), header(&refused, ALLOWED)), (status, Some(APP)));
    }
    for answer in [preflight, read] {
        assert_eq!(header(&answer, "access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn no_other_page_may_read_and_no_page_may_read_anything_else() {
    let (world, held) = keyed(&[APP]).await;
    let stream = held.path("stream");
    let foreign = look(&world, &stream, OTHER).await;
    assert_eq!(
        (foreign.status().as_u16(), header(&foreign, ALLOWED), header(&foreign, "vary")),
        (200, None, Some("Origin"))
    );
    assert_eq!(header(&ask(&world, &stream, OTHER).await, ALLOWED), None);
    let without = world.request(Method::GET, &stream).send().await.unwrap();
    assert_eq!((header(&without, ALLOWED), header(&without, "vary")), (None, Some("Origin")));
    for path in [held.path("result"), held.path("events"), "/v1/executions".to_owned(), "/healthz".to_owned()] {
        let looked = look(&world, &path, APP).await;
        assert_eq!((header(&looked, ALLOWED), header(&looked, "vary")), (None, None), "{path}");
        assert_eq!(header(&ask(&world, &path, APP).await, ALLOWED), None, "{path}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_read_nothing_unless_it_is_configured() {
    let (world, held) = keyed(&[]).await;
    let looked = look(&world, &held.path("stream"), APP).await;
    assert_eq!((looked.status().as_u16(), header(&looked, ALLOWED), header(&looked, "vary")), (200, None, None));
    assert_eq!(ask(&world, &held.path("stream"), APP).await.status(), 405);
}

/// A server without keys refuses pages from other hosts, except for responses that a configured origin may read.
#[tokio::test]
async fn a_server_without_keys_hears_configured_pages_where_they_may_read() {
    let world = World::over_with(Arc::new(MemoryBackend::default()), allowing(&[APP])).await;
    let held = world.running("k").await;
    for (path, origin, status) in [
        (held.path("stream"), APP, 200),
        (held.path("stream"), OTHER, 403),
        (held.path("result"), APP, 403),
        ("/v1/executions".to_owned(), APP, 403),
    ] {
        assert_eq!(look(&world, &path, origin).await.status().as_u16(), status, "{path} from {origin}");
    }
    let made = world.request(Method::POST, &held.path("stream/token")).header("origin", APP).json(&json!({}));
    assert_eq!(made.send().await.unwrap().status(), 403);
}
