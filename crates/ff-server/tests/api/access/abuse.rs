//! Abusive callers: bodies that do not arrive, silent connections, wrong keys, pools filled by one caller. The server still
//! serves other callers.

use std::time::{Duration, Instant};

use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::entropy::SystemEntropy;
use ff_server::Limits;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::keyed::KeyedStore;
use crate::world::World;

/// Opens a TCP connection and sends these bytes.
async fn sent(world: &World, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Sends a submission of which only this many bytes arrive.
async fn arriving(world: &World, length: usize, came: usize) -> TcpStream {
    let head = format!("POST /v1/executions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n");
    sent(world, &format!("{head}{}", " ".repeat(came))).await
}

/// Returns the first line of the server's response; empty if it closes the connection instead.
async fn status_line(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1..) => answer.push(byte[0]),
            Ok(_) | Err(_) => break,
        }
    }
    String::from_utf8(answer).unwrap().trim().to_owned()
}

#[tokio::test]
async fn request_bodies_that_do_not_arrive_do_not_block_other_requests() {
    let world = World::within(Limits { in_flight: 1, ..Limits::default() }).await;
    let mut slow = Vec::new();
    for _ in 0..64 {
        slow.push(arriving(&world, 100, 1).await);
    }
    for _ in 0..20 {
        world.submit(&json!({"kind": "k"})).await;
        assert_eq!(world.get("/v1/partitions").await.status, 200);
    }
    let began = Instant::now();
    for stream in &mut slow {
        assert_eq!(status_line(stream).await, "HTTP/1.1 408 Request Timeout");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "a byte in {:?} is too slow", began.elapsed());
}

#[tokio::test]
async fn all_bodies_together_have_so_much_memory() {
    let world = World::within(Limits { body_bytes: 100_000, ..Limits::default() }).await;
    let half = arriving(&world, 80_000, 70_000).await;
    let padded = format!("{{\"kind\":\"k\"{}}}", " ".repeat(60_000));
    let refused = loop {
        // The server counts the first body when it has read it.
        let reply = world.post_text("/v1/executions", padded.clone()).await;
        if reply.status != 201 {
            break reply;
        }
    };
    refused.assert_refused(503, "overloaded", None);
    drop(half);
    while world.post_text("/v1/executions", padded.clone()).await.status != 201 {}
}

#[tokio::test]
async fn a_body_announced_as_too_large_is_refused_unread() {
    let world = World::start().await;
    let head = "POST /v1/executions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
                content-length: 3000000\r\n\r\n";
    assert_eq!(status_line(&mut sent(&world, head).await).await, "HTTP/1.1 413 Payload Too Large");
    let unasked = "POST /v1/executions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3000000\r\n\r\n";
    assert_eq!(status_line(&mut sent(&world, unasked).await).await, "HTTP/1.1 413 Payload Too Large");
}

#[tokio::test]
async fn connections_that_say_nothing_give_way() {
    let world = World::within(Limits { connections: 4, ..Limits::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(sent(&world, "").await);
    }
    world.submit(&json!({"kind": "k"})).await;
    assert_eq!(status_line(&mut silent[0]).await, "", "the oldest was closed");
    let mut refused = Vec::new();
    for _ in 0..40 {
        refused.push(sent(&world, "GET /v1/partitions HTTP/1.1\r\nhost: localhost\r\n\r\n").await);
    }
    world.submit(&json!({"kind": "k"})).await;
}

#[tokio::test]
async fn a_head_has_so_many_bytes_and_so_much_time() {
    let world = World::start().await;
    let head = |bytes: usize| format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n", "x".repeat(bytes));
    let fits = format!("{}\r\n", head(32 * 1024));
    assert_eq!(status_line(&mut sent(&world, &fits).await).await, "HTTP/1.1 200 OK");
    let large = status_line(&mut sent(&world, &head(128 * 1024)).await).await;
    assert!(large.starts_with("HTTP/1.1 431") || large.is_empty(), "{large}");
    let began = Instant::now();
    let late = status_line(&mut sent(&world, &head(10)).await).await;
    assert!(late.starts_with("HTTP/1.1 408") || late.is_empty(), "{late}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[tokio::test]
async fn wrong_keys_do_not_rate_limit_callers_with_a_valid_key() {
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let operator = keyed.key_for(&[Role::Operate], None, None).await;
    let ask = async |shown: &str| world.request_with(shown, "/v1/partitions").send().await.unwrap().status().as_u16();
    let mut held_back = 0;
    for _ in 0..150 {
        held_back += usize::from(ask("nonsense").await == 429);
        // The id of a key with another secret.
        let forged = SecretKey::of(operator.id().clone(), [7; 32]).expose();
        held_back += usize::from(ask(&forged).await == 429);
        ask(&SecretKey::draw(&SystemEntropy).expose()).await;
    }
    assert!(held_back > 50, "only {held_back} were held back");
    for shown in [&operator.expose(), &admin, &keyed.tenant("acme").await] {
        assert_eq!(ask(shown).await, 200);
    }
}

#[tokio::test]
async fn a_key_gets_at_most_half_of_the_streams_and_long_polls() {
    let (keyed, admin) = KeyedStore::new().await;
    let limits = Limits { streams: 4, waiting: 8, ..Limits::default() };
    let mut world = World::over_within(keyed.store.clone(), limits).await;
    world.key = Some(admin);
    let open = |key: String| {
        let request = world.http.get(format!("{}/v1/events", world.url)).bearer_auth(key);
        request.header("accept", "text/event-stream").send()
    };
    let (greedy, other) = (keyed.key(&[Role::Operate], None).await, keyed.key(&[Role::Operate], None).await);
    let mut streams = Vec::new();
    for _ in 0..2 {
        streams.push(open(greedy.clone()).await.unwrap());
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = open(greedy.clone()).await.unwrap();
    assert_eq!(refused.status(), 429);
    assert!(refused.text().await.unwrap().contains("2 streams"), "it is told how many it may have");
    assert_eq!(open(other.clone()).await.unwrap().status(), 200);

    let (worker, works) = (keyed.tenant("acme").await, keyed.tenant("other").await);
    let claim = |key: &str, wait_ms: u64| {
        let request = world.http.request(Method::POST, format!("{}/v1/workers/w-1/claim", world.url)).bearer_auth(key);
        request.json(&json!({"worker_id": "w", "kinds": ["none"], "wait_ms": wait_ms})).send()
    };
    let waiting: Vec<_> = (0..4).map(|_| tokio::spawn(claim(&worker, 60_000))).collect();
    let refused = loop {
        let reply = claim(&worker, 0).await.unwrap();
        if reply.status() != 200 {
            break reply;
        }
    };
    assert_eq!(refused.status(), 503);
    assert!(refused.text().await.unwrap().contains("at most 4 requests"), "it is told how many it may have");
    assert_eq!(claim(&works, 0).await.unwrap().status(), 200);
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn an_event_stream_ends_when_its_key_is_revoked() {
    let (keyed, admin) = KeyedStore::new().await;
    let world = keyed.asked_with(&admin).await;
    let key = keyed.key_for(&[Role::Operate], None, None).await;
    let request = world.http.get(format!("{}/v1/events", world.url)).bearer_auth(key.expose());
    let mut stream = request.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(stream.status(), 200);
    stream.chunk().await.unwrap();
    keyed.revoke(key.id()).await;
    let began = Instant::now();
    let (mut text, job) = (String::new(), json!({"kind": "k"}));
    loop {
        tokio::select! {
            chunk = stream.chunk() => match chunk.unwrap() {
                Some(chunk) => text.push_str(std::str::from_utf8(&chunk).unwrap()),
                None => break,
            },
            id = world.submit(&job) => assert!(id.starts_with("{fp:"), "{id}"),
        }
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(text.contains("event: problem") && text.contains("has been revoked"), "{text}");
}

#[tokio::test]
async fn a_page_of_large_rows_ends_early_and_all_pages_are_the_whole_list() {
    let world = World::start().await;
    let mut expected = Vec::new();
    for nth in 0..200 {
        let held = world.running(&format!("k{nth}")).await;
        let call = held.call(json!({"message": "m".repeat(8_192), "percent": 1}));
        assert_eq!(world.post(&held.path("progress"), &call).await.status, 200);
        expected.push(held.0["execution_id"].clone());
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = world.get(&format!("/v1/executions?limit=1000{cursor}")).await;
        assert!(page.body.to_string().len() <= 1_100_000, "{}", page.body.to_string().len());
        seen.extend(page.body["executions"].as_array().unwrap().iter().map(|row| row["execution_id"].clone()));
        pages += 1;
        match page.body.get("next_cursor") {
            Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
            None => break,
        }
    }
    expected.reverse();
    assert_eq!((seen.len(), pages), (200, 2));
    assert_eq!(
        seen.iter().collect::<std::collections::HashSet<_>>(),
        expected.iter().collect::<std::collections::HashSet<_>>()
    );
}
