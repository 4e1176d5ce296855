//! The cursors of a caller that is confined to one namespace reveal nothing about other tenants.

use ff_core::types::Namespace;
use ff_sdk::Connect;
use serde_json::{Value, json};

use crate::keyed::KeyedStore;
use crate::reader::Stream;
use crate::world::World;

/// Returns the events of a tenant since a cursor, and the next cursor.
async fn page(world: &World, after: &str) -> (Vec<Value>, String) {
    let page = world.get(&format!("/v1/events?after={after}&limit=1000")).await;
    assert_eq!((page.status.as_u16(), &page.body["missed"]), (200, &json!(false)), "{page:?}");
    (page.body["events"].as_array().unwrap().clone(), page.text("next"))
}

#[tokio::test]
async fn a_tenants_cursor_does_not_show_whether_others_were_active() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let start = other.get("/v1/events").await.text("next");
    let (_, idle) = page(&other, &start).await;
    for _ in 0..9 {
        acme.submit(&json!({"kind": "k"})).await;
    }
    let (events, busy) = page(&other, &idle).await;
    assert_eq!(events, Vec::<Value>::new());
    assert_eq!((start.len(), idle.len()), (idle.len(), busy.len()));
    assert!(start.starts_with("s.") && start != idle, "the same place is never written the same way: {start}");
    let theirs = acme.submit(&json!({"kind": "k"})).await;
    for path in [format!("/v1/executions/{theirs}/events"), "/v1/events".to_owned()] {
        assert!(acme.get(&path).await.text("next").starts_with("s."), "{path}");
    }
}

#[tokio::test]
async fn a_tenant_reads_everything_of_its_own_once_on_any_server() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let (acme, second) = (keyed.asked_with(&key).await, keyed.asked_with(&key).await);
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let (mut cursor, mut seen) = (acme.get("/v1/events").await.text("next"), Vec::new());
    let mut submitted = Vec::new();
    for server in [&acme, &second, &acme] {
        submitted.push(acme.submit(&json!({"kind": "k"})).await);
        other.submit(&json!({"kind": "k"})).await;
        keyed.clock.advance(7);
        let (events, next) = page(server, &cursor).await;
        seen.extend(events.iter().map(|event| event["execution_id"].as_str().unwrap().to_owned()));
        cursor = next;
    }
    assert_eq!(seen, submitted);
}

#[tokio::test]
async fn the_sdk_continues_after_each_event_of_a_page() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let acme = keyed.asked_with(&key).await;
    let namespace = Namespace::parse("acme").unwrap();
    let client = Connect::to(&acme.url).key(key.parse().unwrap()).connect().await.unwrap().client();
    let mut events = client.events(Some(&namespace), None).await.unwrap();
    let mut submitted = Vec::new();
    for _ in 0..5 {
        submitted.push(acme.submit(&json!({"kind": "k"})).await);
        keyed.clock.advance(1);
    }
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(events.next().await.unwrap().execution_id.to_string());
        let cursor = events.cursor().clone();
        events = client.events(Some(&namespace), Some(cursor)).await.unwrap();
    }
    assert_eq!(seen, submitted);
    assert_eq!(events.next_if_any().await.unwrap(), None);
}

#[tokio::test]
async fn a_cursor_that_was_changed_is_refused_and_one_of_a_retired_secret_says_that_something_was_missed() {
    let (keyed, admin) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let admin = keyed.asked_with(&admin).await;
    let cursor = acme.get("/v1/events").await.text("next");
    let middle = cursor.len() / 2;
    let turned = if cursor.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let changed = format!("{}{turned}{}", &cursor[..middle], &cursor[middle + 1..]);
    for after in [changed.as_str(), "s.", "s.AAAA", "s.%20", &cursor[..middle]] {
        let refused = acme.get(&format!("/v1/events?after={after}")).await;
        refused.assert_refused(400, "invalid_cursor", Some("after"));
    }
    admin.post("/v1/secrets/rotate", &json!({"kid": "k2", "secret_hex": "00".repeat(16), "grace_ms": 1_000})).await;
    acme.submit(&json!({"kind": "k"})).await;
    let (events, _) = page(&acme, &cursor).await;
    assert_eq!(events.len(), 1, "a retired secret counts until its grace ends");
    // The retired secret expires. A new server has no cached secrets.
    keyed.clock.advance(1_000);
    let fresh = keyed.asked_with(&keyed.tenant("acme").await).await;
    let late = fresh.get(&format!("/v1/events?after={cursor}")).await;
    assert_eq!((&late.body["events"], &late.body["missed"]), (&json!([]), &json!(true)), "{late:?}");
    page(&acme, &late.text("next")).await;
}

#[tokio::test]
async fn a_tenants_stream_is_woken_by_its_own_events_only() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let mut stream = Stream::open(&acme, "/v1/events", None).await;
    let first = stream.next().await.unwrap();
    assert!(first.id.as_deref().unwrap().starts_with("s."), "{first:?}");
    for _ in 0..5 {
        other.submit(&json!({"kind": "k"})).await;
    }
    let own = acme.submit(&json!({"kind": "k"})).await;
    let message = stream.next().await.unwrap();
    assert_eq!(
        message.data["events"][0]["execution_id"], own,
        "no message says only that time has passed: {message:?}"
    );
    assert_eq!(message.id.unwrap().len(), first.id.unwrap().len());
}
