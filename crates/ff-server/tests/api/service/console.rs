//! The files of the console, as a browser receives them.

use reqwest::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};

use crate::keyed::KeyedStore;
use crate::world::World;

#[tokio::test]
async fn the_page_and_its_files_come_with_a_policy_and_without_a_key() {
    let (keyed, _) = KeyedStore::new().await;
    for world in [World::start().await, keyed.asked_with("").await] {
        for (path, kind) in [
            ("/", "text/html"),
            ("/console/main.js", "text/javascript"),
            ("/console/style/base.css", "text/css"),
            ("/console/vendor/LICENSE-preact", "text/plain"),
        ] {
            let reply = world.http.get(format!("{}{path}", world.url)).send().await.unwrap();
            assert_eq!(reply.status(), 200, "{path}");
            assert!(reply.headers()[CONTENT_TYPE].to_str().unwrap().starts_with(kind), "{path}");
            let policy = reply.headers()["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
            assert_eq!(reply.headers()["x-frame-options"], "DENY");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_known_is_not_sent_again() {
    let world = World::start().await;
    let first = world.request(Method::GET, "/").send().await.unwrap();
    let tag = first.headers()[ETAG].clone();
    let again = world.request(Method::GET, "/").header(IF_NONE_MATCH, tag).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert!(again.bytes().await.unwrap().is_empty());
}

#[tokio::test]
async fn no_other_console_paths_are_served() {
    let world = World::start().await;
    for path in
        ["/console/", "/console/nothing.js", "/console/..%2fCargo.toml", "/console/../src/lib.rs", "/index.html"]
    {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
}
