//! The log: it has every request with its route and status, and every decision, but never a payload, a token or a secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ff_core::api_key::SecretKey;
use ff_core::backend::entropy::SystemEntropy;
use reqwest::Method;
use serde_json::json;

use crate::keyed::KeyedStore;
use crate::log;
use crate::world::World;

const CANARY: &str = "canary-8d1f2c";
const SECRET: &str = "ca9a4ca9a4ca9a4cca9a4ca9a4ca9a4c";

#[tokio::test]
async fn payloads_tokens_and_secrets_are_never_logged() {
    log::collect();

    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let keys = manage_keys(&world, &admin).await;
    let encoded = STANDARD.encode(CANARY);
    let held = world.running(CANARY).await;
    world.post(&held.path("complete"), &held.call(json!({"result": {"is": CANARY}}))).await;
    world.get(&held.path("result")).await;
    world.get(&held.path("payload?encoding=base64")).await;
    world.submit(&json!({"kind": "k", "payload_base64": encoded})).await;
    let path = "/v1/executions";
    world.post_text(path, format!("{{\"kind\":\"k\",\"payload\":{{\"is\":\"{CANARY}\"}},\"colour\":1}}")).await;
    world.post_text(path, format!("{{\"kind\":\"k\",\"payload\":\"{CANARY}")).await;
    world.post(path, &json!({"kind": "k", "payload_base64": format!("{encoded}*")})).await;
    world.post("/v1/executions/batch", &json!({"executions": [{"knd": 1, "payload": CANARY}]})).await;
    let flow = json!({"kind": "f", "nodes": {"a": {"kind": "f", "payload": {"is": CANARY}}}});
    let flow = world.flow(&flow).await;
    world.get(&format!("/v1/flows/{flow}")).await;
    world.post(&format!("/v1/flows/{flow}/cancel"), &json!({"requested_by": "bob"})).await;
    let tokens = decide_about_waits(&world).await;
    let steered = world.submit(&json!({"kind": "steered"})).await;
    world.post(&format!("/v1/executions/{steered}/priority"), &json!({"priority": 7})).await;
    world.post(&format!("/v1/executions/{steered}/cancel"), &json!({})).await;
    world.post("/v1/lanes/mail", &json!({})).await;
    world.get("/v1/executions?colour=%0aforged").await;
    world.get("/v1/executions?%0aforged=1").await;
    world.stop().await;

    let text = log::collected();
    for expected in ["method=POST", "route=\"/v1/executions/{id}/complete\"", "status=200", "status=400"] {
        assert!(text.contains(expected), "{expected} is not in the log:\n{text}");
    }
    let stopped = |line: &&str| line.contains("somebody cancelled a flow") && line.contains("requested_by=\"bob\"");
    assert!(text.lines().any(|line| stopped(&line) && line.contains(&flow)), "{text}");
    for (decision, by) in [("approve", "requested_by=\"ada\""), ("approved", "decision through an approval link")] {
        let fits = |line: &&str| line.contains("ff_server::audit") && line.contains(&format!("decision={decision} "));
        let line = text.lines().find(fits).unwrap_or_else(|| panic!("{decision} is not in the log:\n{text}"));
        assert!(line.contains(by) && line.contains("execution={fp:") && line.contains("caller=127.0.0.1"), "{line}");
    }
    for expected in [
        "operation=\"execution_cancel\"",
        "operation=\"execution_change_priority\"",
        "operation=\"lane_configure\"",
        "a wrong API key was presented",
    ] {
        let fits = |line: &&str| line.contains("ff_server::audit") && line.contains(expected);
        let line = text.lines().find(fits).unwrap_or_else(|| panic!("{expected} is not in the log:\n{text}"));
        assert!(line.contains("caller=127.0.0.1"), "{line}");
    }
    assert!(!text.lines().any(|line| line.starts_with("forged")), "what a caller sends begins no line");
    assert!(text.contains("an operator rotated the secret") && text.contains("an operator read a token"), "{text}");
    assert!(
        text.contains("an administrator created a key") && text.contains("an administrator revoked a key"),
        "{text}"
    );
    let secrets = tokens.into_iter().chain(keys).chain([encoded, CANARY.to_owned(), SECRET.to_owned()]);
    for secret in secrets {
        let leaks: Vec<_> = text.lines().filter(|line| line.contains(&secret)).collect();
        assert!(leaks.is_empty(), "{leaks:?}");
    }
}

/// Sends valid, forged and broken keys wherever a key is accepted, and returns the texts that must not be logged.
async fn manage_keys(world: &World, admin: &str) -> Vec<String> {
    let secret = |key: &str| key.rsplit('_').next().unwrap().to_owned();
    let drawn = world.post("/v1/keys", &json!({"name": "ci", "roles": ["operate"]})).await;
    assert_eq!(drawn.status, 201, "{drawn:?}");
    let (key, mine) = (drawn.text("key"), SecretKey::draw(&SystemEntropy));
    let create = json!({"name": "ci", "roles": ["operate"], "key_id": mine.id(), "secret_hash": mine.hash()});
    assert_eq!(world.post("/v1/keys", &create).await.status, 201);
    let forged = SecretKey::draw(&SystemEntropy).expose();
    let broken = format!("{key}0");
    for shown in [&key, &mine.expose(), &forged, &broken, &secret(&key)] {
        world.request_with(shown, "/v1/partitions").send().await.unwrap();
    }
    let misplaced = json!({"name": "ci", "roles": [key.clone()], "secret_hash": key.clone()});
    world.post("/v1/keys", &misplaced).await;
    world.post(&format!("/v1/keys/{}/revoke", mine.id()), &json!({})).await;
    world.get("/v1/keys").await;
    assert!(!format!("{mine:?}").contains(&secret(&mine.expose())));
    vec![secret(&key), secret(&mine.expose()), secret(&forged), secret(admin), mine.hash().to_hex()]
}

/// Sends tokens and a secret wherever one is accepted, and returns the texts that must not be logged.
async fn decide_about_waits(world: &World) -> Vec<String> {
    let mut unseen = Vec::new();
    for nth in 0..2 {
        let held = world.running(&format!("wait{nth}")).await;
        let granted = held.suspended(world, "a").await;
        let (id, token) = (granted["waitpoint_id"].as_str().unwrap(), granted["waitpoint_token"].as_str().unwrap());
        let mac = token.split_once(':').unwrap().1.to_owned();
        let forged =
            json!({"waitpoint_id": id, "waitpoint_token": format!("{token}0"), "name": "n", "payload": CANARY});
        world.post(&held.path("signals"), &forged).await;
        world.get(&held.path(&format!("waitpoints/{id}/token"))).await;
        let link = held.path(id).replace("/v1/executions", "/approvals");
        let look = world.request(Method::GET, &format!("{link}?token={token}")).send().await.unwrap();
        assert_eq!(look.status(), 200);
        if nth == 0 {
            let form = format!("token={token}&decision=approve&comment={CANARY}");
            let sent = world.request(Method::POST, &link).body(form).send().await.unwrap();
            assert_eq!(sent.status(), 200);
        } else {
            let decision = json!({"requested_by": "ada", "payload": CANARY});
            assert_eq!(world.post(&held.path("approve"), &decision).await.status, 200);
        }
        unseen.push(mac);
    }
    let rotate = |secret: &str| json!({"kid": "k2", "secret_hex": secret});
    for body in [rotate(SECRET), rotate(&format!("{SECRET}0")), json!({"kid": SECRET.repeat(20), "secret_hex": SECRET})]
    {
        world.post("/v1/secrets/rotate", &body).await;
    }
    unseen
}
