//! Browser sessions: the cookie stands for the key, with the validity and permissions of the key and no more.

use ff_core::api_key::Role;
use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::keyed::KeyedStore;
use crate::world::{Reply, World, answer};

const HOUR_MS: u64 = 3_600_000;

/// Logs in with the key of a world, and returns the cookie as a browser would send it.
async fn log_in(world: &World) -> String {
    let reply = world.post("/v1/session", &json!({})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let set = reply.headers[SET_COOKIE].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    set.split(';').next().unwrap().to_owned()
}

async fn get(world: &World, cookie: &str, path: &str) -> Reply {
    answer(world.http.get(format!("{}{path}", world.url)).header(COOKIE, cookie)).await
}

async fn cancel(world: &World, cookie: &str, id: &str, header: Option<&str>) -> Reply {
    let request = world.http.post(format!("{}/v1/executions/{id}/cancel", world.url)).header(COOKIE, cookie);
    let request = header.into_iter().fold(request, |request, name| request.header(name, "1"));
    answer(request.header(CONTENT_TYPE, "application/json").body("{}")).await
}

#[tokio::test]
async fn a_cookie_stands_for_the_key_that_was_shown_and_does_not_hold_it_in_the_clear() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let world = keyed.asked_with(&key).await;
    let cookie = log_in(&world).await;
    assert!(!cookie.contains(&key[3..]), "{cookie}");
    let who = get(&world, &cookie, "/v1/session").await;
    assert_eq!(
        (who.status, &who.body["key"]["namespace"], &who.body["keys"]),
        (StatusCode::OK, &json!("acme"), &json!(true))
    );
    assert!(!who.body.to_string().contains(&key), "{who:?}");
    assert_eq!(get(&world, &cookie, "/v1/executions").await.status, 200);
    assert_eq!(get(&world, &cookie, "/v1/keys").await.status, 403, "a session may no more than its key");
    assert_eq!(get(&world, &cookie, "/v1/executions?namespace=other").await.status, 403);
    let elsewhere = keyed.asked_with(&key).await;
    assert_eq!(get(&elsewhere, &cookie, "/v1/executions").await.status, 200, "every server of the store knows it");
}

#[tokio::test]
async fn a_change_needs_the_header_that_only_our_own_page_can_send() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    let id = world.submit(&json!({"kind": "job"})).await;
    let cookie = log_in(&world).await;
    let forged = cancel(&world, &cookie, &id, None).await;
    assert_eq!((forged.status, &forged.body["field"]), (StatusCode::FORBIDDEN, &json!("FF-Console")));
    assert_eq!(world.get(&format!("/v1/executions/{id}")).await.body["public_state"], "waiting");
    assert_eq!(cancel(&world, &cookie, &id, Some("FF-Console")).await.status, 200);
}

#[tokio::test]
async fn a_session_is_over_after_half_a_day_and_with_its_key() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.key_for(&[Role::Operate], None, None).await;
    let world = keyed.asked_with(&key.expose()).await;
    let cookie = log_in(&world).await;
    keyed.clock.advance(11 * HOUR_MS);
    assert_eq!(get(&keyed.asked_with("").await, &cookie, "/v1/executions").await.status, 200);
    keyed.clock.advance(2 * HOUR_MS);
    let late = get(&keyed.asked_with("").await, &cookie, "/v1/executions").await;
    assert_eq!(late.status, 401, "{late:?}");
    let again = log_in(&keyed.asked_with(&key.expose()).await).await;
    assert_eq!(get(&keyed.asked_with("").await, &again, "/v1/executions").await.status, 200);
    keyed.revoke(key.id()).await;
    assert_eq!(get(&keyed.asked_with("").await, &again, "/v1/executions").await.status, 401);
}

#[tokio::test]
async fn a_cookie_that_was_made_up_is_refused_and_none_is_set_for_it() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    let cookie = log_in(&world).await;
    let mut broken = cookie.clone();
    broken.replace_range(cookie.len() - 4.., "AAAA");
    for bad in ["ff_session=x", "ff_session=AAAA", &broken] {
        let reply = get(&world, bad, "/v1/executions").await;
        assert_eq!((reply.status, &reply.body["code"]), (StatusCode::UNAUTHORIZED, &json!("unauthenticated")), "{bad}");
    }
    let without_key = answer(
        world
            .http
            .post(format!("{}/v1/session", world.url))
            .header(COOKIE, &cookie)
            .header("FF-Console", "1")
            .json(&json!({})),
    );
    assert_eq!(without_key.await.status, 401, "a session does not make the next one");
}

#[tokio::test]
async fn logging_out_takes_the_cookie_back() {
    let (keyed, _) = KeyedStore::new().await;
    let world = keyed.asked_with(&keyed.tenant("acme").await).await;
    log_in(&world).await;
    let reply = world.request(Method::POST, "/v1/session/end").json(&json!({})).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    let set = reply.headers()[SET_COOKIE].to_str().unwrap();
    assert!(set.starts_with("ff_session=; ") && set.contains("Max-Age=0"), "{set}");
}

#[tokio::test]
async fn without_keys_there_is_nothing_to_log_in_to() {
    let world = World::start().await;
    let who = world.get("/v1/session").await;
    assert_eq!((who.status, &who.body["keys"], who.body.get("key")), (StatusCode::OK, &json!(false), None));
    let begun = world.post("/v1/session", &json!({})).await;
    assert!(begun.status == 200 && !begun.headers.contains_key(SET_COOKIE), "{begun:?}");
}
