//! Every route with every role, and with other values in place of a key.

use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::entropy::SystemEntropy;
use ff_core::types::KeyId;
use ff_server::ROUTES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::document;
use crate::keyed::KeyedStore;
use crate::world::{Reply, World, answer};

const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

/// The access rule of a route.
struct Rule {
    method: &'static str,
    path: &'static str,
    who: Who,
}

#[derive(Debug, PartialEq)]
enum Who {
    Everybody,
    /// A caller with a token in the body, or with a key.
    Token,
    AnyKey,
    /// Keys with one of these roles; with `true`, only keys for all namespaces.
    Roles(Vec<&'static str>, bool),
}

/// Returns the access rules of the checked-in docs/openapi.json, which changes if a route is opened to other callers.
fn rules() -> Vec<Rule> {
    let rule = |(method, path, operation): (&'static str, &'static str, &'static Value)| {
        let (security, says) = (&operation["security"], operation["description"].as_str());
        let words = says.unwrap_or_default().split('`').collect::<Vec<_>>();
        let roles: Vec<_> = words.iter().skip(1).step_by(2).copied().collect();
        let who = match (security, roles.is_empty()) {
            (Value::Array(schemes), true) if schemes.is_empty() => Who::Everybody,
            (Value::Array(schemes), true) if schemes[0] == json!({}) => Who::Token,
            (_, true) => Who::AnyKey,
            (_, false) => Who::Roles(roles, words[words.len() - 1] == ", for all namespaces."),
        };
        Rule { method, path, who }
    };
    document::operations().map(rule).collect()
}

#[test]
fn every_route_has_its_rule() {
    let listed: Vec<_> = rules().iter().map(|rule| (rule.method, rule.path)).collect();
    for (method, path, _) in ROUTES.iter() {
        assert!(listed.contains(&(method, path)), "{method} {path} is not in docs/openapi.json");
    }
    assert_eq!(listed.len(), ROUTES.len());
}

/// Returns the expected callers of a route. A call that changes something is for operators, unless it is listed here or
/// requires a fence.
fn expected_access(method: &str, path: &str) -> Who {
    let roles = |roles: &[&'static str]| Who::Roles(roles.to_vec(), false);
    match (method, path) {
        (_, "/metrics" | "/v1/doctor" | "/v1/deliveries") => Who::Roles(vec!["operate"], true),
        (_, "/v1/partitions" | "/v1/session") => Who::AnyKey,
        (_, "/v1/session/end") => Who::Everybody,
        ("post", "/v1/executions/{id}/signals") => Who::Token,
        _ if !path.starts_with("/v1/") => Who::Everybody,
        _ if path.starts_with("/v1/keys") || path.starts_with("/v1/secrets") => Who::Roles(vec!["admin"], true),
        _ if path.starts_with("/v1/workers/") || path == "/v1/worker/batch" => roles(&["work"]),
        (
            "get",
            "/v1/decisions" | "/v1/events" | "/v1/workers" | "/v1/executions/{id}/waitpoints/{waitpoint}/token",
        ) => roles(&["operate"]),
        ("get", _) | (_, "/v1/executions/{id}/stream/token") => roles(&["submit", "work", "operate"]),
        (_, "/v1/executions" | "/v1/executions/batch" | "/v1/executions/{id}/fork" | "/v1/flows") => roles(&["submit"]),
        (_, "/v1/flows/{flow}/grow" | "/v1/flows/{flow}/close") => roles(&["submit", "work"]),
        (_, "/v1/executions/{id}/waitpoints/{waitpoint}/close") => roles(&["work", "operate"]),
        _ if path.ends_with("}/cancel") || path.ends_with("}/tags") => roles(&["submit", "operate"]),
        _ if document::takes_fence(path) => roles(&["work"]),
        _ => roles(&["operate"]),
    }
}

#[test]
fn every_route_is_for_who_it_is_meant_for() {
    for Rule { method, path, who } in rules() {
        assert_eq!(who, expected_access(method, path), "{method} {path}");
    }
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
        for Rule { method, path, who } in rules() {
            let reply = ask(&world, method, path).await;
            let may = match who {
                Who::Everybody | Who::Token | Who::AnyKey => true,
                Who::Roles(roles, of_every) => {
                    (roles.contains(&role.as_str()) || role == "admin") && (*every || !of_every)
                }
            };
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
async fn a_caller_without_a_valid_key_is_refused() {
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
        // A server answers only a limited number of wrong keys at once.
        for rules in rules().chunks(80) {
            let mut world = keyed.asked_with("").await;
            world.key.clone_from(&key);
            for Rule { method, path, who } in rules {
                let reply = ask(&world, method, path).await;
                let is_open = *who == Who::Everybody || (*who == Who::Token && what == "none");
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
}

#[tokio::test]
async fn a_head_request_needs_the_same_access_as_get() {
    let (keyed, _) = KeyedStore::new().await;
    let mut world = keyed.asked_with("").await;
    world.key = None;
    for Rule { path, who, .. } in rules().iter().filter(|rule| rule.method == "get" && rule.who != Who::Everybody) {
        let status = world.request(Method::HEAD, &filled(path)).send().await.unwrap().status();
        assert_eq!(status, 401, "{path} {who:?}");
    }
    let nowhere = answer(world.request(Method::GET, "/v1/nowhere")).await;
    nowhere.assert_refused(404, "not_found", None);
}

#[tokio::test]
async fn a_caller_that_guesses_keys_is_rate_limited() {
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

/// Returns a minimal body: these tests are only about access.
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
