//! Every route with every role, and with whatever else somebody may show in place of a key.

use ff_core::api_key::{Role, SecretKey};
use ff_core::entropy::SystemEntropy;
use ff_core::types::KeyId;
use ff_server::ROUTES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::KeyedStore;
use crate::world::{Reply, World, answer};

const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

/// Who may ask for what: `open` to all, a `token` in the body, `any` key, or keys with one of these roles; with `every`, only
/// keys of every namespace.
const WHO: &[(&str, &str, &str)] = &[
    ("get", "/healthz", "open"),
    ("get", "/readyz", "open"),
    ("get", "/openapi.json", "open"),
    ("get", "/errors/{code}", "open"),
    ("get", "/approvals/{id}/{waitpoint}", "open"),
    ("post", "/approvals/{id}/{waitpoint}", "open"),
    ("get", "/metrics", "every operate"),
    ("get", "/v1/partitions", "any"),
    ("get", "/v1/doctor", "every operate"),
    ("get", "/v1/secrets", "every"),
    ("post", "/v1/secrets/rotate", "every"),
    ("get", "/v1/deliveries", "every operate"),
    ("post", "/v1/executions", "submit"),
    ("get", "/v1/executions", "submit work operate"),
    ("post", "/v1/executions/batch", "submit"),
    ("post", "/v1/executions/bulk", "operate"),
    ("get", "/v1/executions/{id}", "submit work operate"),
    ("get", "/v1/executions/{id}/events", "submit work operate"),
    ("get", "/v1/executions/{id}/payload", "submit work operate"),
    ("get", "/v1/executions/{id}/result", "submit work operate"),
    ("get", "/v1/executions/{id}/attempts", "submit work operate"),
    ("post", "/v1/executions/{id}/cancel", "submit operate"),
    ("post", "/v1/executions/{id}/replay", "operate"),
    ("post", "/v1/executions/{id}/priority", "operate"),
    ("post", "/v1/executions/{id}/tags", "submit operate"),
    ("post", "/v1/executions/{id}/revoke", "operate"),
    ("post", "/v1/executions/{id}/renew", "work"),
    ("post", "/v1/executions/{id}/progress", "work"),
    ("post", "/v1/executions/{id}/frames", "work"),
    ("get", "/v1/executions/{id}/stream", "submit work operate"),
    ("post", "/v1/executions/{id}/complete", "work"),
    ("post", "/v1/executions/{id}/fail", "work"),
    ("post", "/v1/executions/{id}/delay", "work"),
    ("post", "/v1/executions/{id}/suspend", "work"),
    ("post", "/v1/executions/{id}/resume", "operate"),
    ("post", "/v1/executions/{id}/approve", "operate"),
    ("post", "/v1/executions/{id}/reject", "operate"),
    ("post", "/v1/executions/{id}/waitpoints", "work"),
    ("get", "/v1/executions/{id}/waitpoints", "submit work operate"),
    ("get", "/v1/executions/{id}/waitpoints/{waitpoint}/token", "operate"),
    ("post", "/v1/executions/{id}/waitpoints/{waitpoint}/close", "work operate"),
    ("post", "/v1/executions/{id}/signals", "token"),
    ("get", "/v1/executions/{id}/signals", "submit work operate"),
    ("get", "/v1/executions/{id}/signals/{signal}", "submit work operate"),
    ("post", "/v1/executions/{id}/wait_for_children", "work"),
    ("post", "/v1/executions/{id}/cascade", "operate"),
    ("post", "/v1/flows", "submit"),
    ("get", "/v1/flows", "submit work operate"),
    ("get", "/v1/flows/{flow}", "submit work operate"),
    ("get", "/v1/flows/{flow}/members", "submit work operate"),
    ("get", "/v1/flows/{flow}/edges", "submit work operate"),
    ("get", "/v1/flows/{flow}/events", "submit work operate"),
    ("post", "/v1/flows/{flow}/grow", "submit work"),
    ("post", "/v1/flows/{flow}/close", "submit work"),
    ("post", "/v1/flows/{flow}/cancel", "submit operate"),
    ("post", "/v1/flows/{flow}/tags", "submit operate"),
    ("post", "/v1/flows/{flow}/nodes/{node}/replay", "operate"),
    ("get", "/v1/lanes", "submit work operate"),
    ("get", "/v1/lanes/{lane}", "submit work operate"),
    ("post", "/v1/lanes/{lane}", "operate"),
    ("get", "/v1/events", "operate"),
    ("get", "/v1/workers", "operate"),
    ("post", "/v1/workers/{instance}/register", "work"),
    ("post", "/v1/workers/{instance}/heartbeat", "work"),
    ("post", "/v1/workers/{instance}/leave", "work"),
    ("post", "/v1/workers/{instance}/claim", "work"),
    ("get", "/v1/workers/{instance}/control", "work"),
    ("get", "/v1/keys", "every"),
    ("post", "/v1/keys", "every"),
    ("post", "/v1/keys/{key}/revoke", "every"),
];

#[test]
fn every_route_is_in_the_table() {
    let listed: Vec<_> = WHO.iter().map(|(method, path, _)| (*method, *path)).collect();
    for (method, path, _) in ROUTES.iter() {
        assert!(listed.contains(&(method, path)), "{method} {path} is not in the table");
    }
    assert_eq!(listed.len(), ROUTES.len());
}

#[tokio::test]
async fn every_route_takes_the_roles_it_is_for_and_no_other() {
    let (keyed, admin) = KeyedStore::new().await;
    let mut keys = vec![("admin".to_owned(), true, admin)];
    for role in [Role::Submit, Role::Work, Role::Signal, Role::Operate] {
        keys.push((role.to_string(), false, keyed.key(&[role], Some("acme")).await));
    }
    keys.push(("operate".to_owned(), true, keyed.key(&[Role::Operate], None).await));
    for (role, every, key) in &keys {
        let world = keyed.asked_with(key).await;
        for (method, path, who) in WHO {
            let reply = ask(&world, method, path).await;
            let named = who.split(' ').any(|word| word == role || word == "open" || word == "token" || word == "any");
            let may = (named || role == "admin") && (*every || !who.starts_with("every"));
            let case = format!("{method} {path} with {role}, of every namespace: {every}: {reply:?}");
            assert_ne!(reply.status, 401, "{case}");
            if may {
                let refused = reply.status == 403 && reply.body["field"] == "Authorization";
                assert!(!refused && reply.status != 500, "{case}");
            } else {
                reply.assert_refused(403, "unauthorized", Some("Authorization"));
            }
        }
    }
}

#[tokio::test]
async fn nobody_is_heard_without_a_key_that_is_valid() {
    let (keyed, admin) = KeyedStore::new().await;
    let every = [Role::Submit, Role::Work, Role::Signal, Role::Operate];
    let expired = keyed.key_for(&every, Some("acme"), Some(1_000)).await;
    let revoked = keyed.key_for(&every, Some("acme"), None).await;
    keyed.revoke(revoked.id()).await;
    keyed.clock.advance(1_000);
    let id = SecretKey::parse(&admin).unwrap().id().clone();
    let unknown = SecretKey::draw(&SystemEntropy);
    let half_known = SecretKey::of(KeyId::parse("nobody").unwrap(), [7; 32]);
    for (what, key) in [
        ("expired", Some(expired.expose())),
        ("revoked", Some(revoked.expose())),
        ("forged", Some(SecretKey::of(id, [7; 32]).expose())),
        ("unknown", Some(unknown.expose())),
        ("unknown by name", Some(half_known.expose())),
        ("malformed", Some("ff_nonsense".to_owned())),
        ("truncated", Some(admin[..admin.len() - 1].to_owned())),
        ("none", None),
    ] {
        let before = keyed.asked_with(&admin).await.contents().await;
        let mut world = keyed.asked_with("").await;
        world.key = key;
        for (method, path, who) in WHO {
            let reply = ask(&world, method, path).await;
            let is_open = *who == "open" || (*who == "token" && what == "none");
            let case = format!("{method} {path} with a key that is {what}: {reply:?}");
            assert_eq!(reply.status == 401, !is_open, "{case}");
            if !is_open {
                reply.assert_refused(401, "unauthenticated", Some("Authorization"));
                assert_eq!(reply.headers["www-authenticate"], "Bearer");
            }
        }
        assert!(world.contents().await == before, "{what} wrote something");
    }
}

#[tokio::test]
async fn what_answers_get_asks_the_same_of_head() {
    let (keyed, _) = KeyedStore::new().await;
    let mut world = keyed.asked_with("").await;
    world.key = None;
    for (_, path, who) in WHO.iter().filter(|(method, _, who)| *method == "get" && *who != "open") {
        let status = world.request(Method::HEAD, &filled(path)).send().await.unwrap().status();
        assert_eq!(status, 401, "{path} {who}");
    }
    let nowhere = answer(world.request(Method::GET, "/v1/nowhere")).await;
    nowhere.assert_refused(404, "not_found", None);
}

#[tokio::test]
async fn whoever_guesses_keys_is_held_back() {
    let (keyed, admin) = KeyedStore::new().await;
    let mut world = keyed.asked_with(&admin).await;
    assert_eq!(world.get("/v1/keys").await.status, 200);
    let mut guesses = 0;
    let held_back = loop {
        world.key = Some(SecretKey::draw(&SystemEntropy).expose());
        let reply = world.get("/v1/partitions").await;
        if reply.status != 401 {
            break reply;
        }
        guesses += 1;
        assert!(guesses < 1_000, "guessing goes on");
    };
    held_back.assert_refused(429, "rate_limit_exceeded", None);
    assert!(held_back.headers.contains_key("retry-after"));
    world.key = Some(admin);
    assert_eq!(world.get("/v1/keys").await.status, 200, "who is known by a key is not mistaken for the guesser");
}

async fn ask(world: &World, method: &str, path: &str) -> Reply {
    let path = filled(path);
    let request = match method {
        "get" => world.request(Method::GET, &path),
        _ => world.request(Method::POST, &path).json(&body(&path)),
    };
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    Reply { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null) }
}

/// Nothing, as far as possible: only who may ask is tried here.
fn body(path: &str) -> Value {
    if path == "/v1/executions/bulk" { json!({"action": "cancel", "dry_run": true}) } else { json!({}) }
}

fn filled(path: &str) -> String {
    let parts =
        [("{id}", "%7Bfp:3%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c"), ("{code}", "internal"), ("{lane}", "mail")];
    let uuids = ["{waitpoint}", "{signal}", "{flow}"].map(|part| (part, UUID));
    let names = ["{instance}", "{node}", "{key}"].map(|part| (part, "a1"));
    parts.into_iter().chain(uuids).chain(names).fold(path.to_owned(), |path, (part, text)| path.replace(part, text))
}
