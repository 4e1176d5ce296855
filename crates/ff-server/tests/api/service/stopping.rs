//! Stopping: long polls are answered, running requests finish, and no new connection is accepted.

use std::time::{Duration, Instant};

use ff_backend_memory::MemoryBackend;
use ff_scheduler::Runtime;
use ff_server::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::World;

const AT_ONCE: Duration = Duration::from_secs(5);

/// Opens a raw connection, for requests that a test sends piece by piece.
async fn connection(world: &World) -> TcpStream {
    TcpStream::connect(world.url.trim_start_matches("http://")).await.unwrap()
}

async fn answered(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_stopping_server_answers_waiting_requests_at_once() {
    let world = World::start().await;
    let held = world.running("k").await;
    let began = Instant::now();
    let body = "{\"worker_id\":\"w\",\"wait_ms\":60000}";
    let claim = format!(
        "POST /v1/workers/w-1/claim HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let control = "GET /v1/workers/w-1/control?wait_ms=60000 HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
    let result = format!("GET {} HTTP/1.1\r\nhost: localhost\r\n\r\n", held.path("result?wait_ms=60000"));
    let mut waiting = Vec::new();
    for request in [claim, control, result] {
        let mut stream = connection(&world).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    // The server accepts connections in order: when a later one has its response, it has accepted these.
    for _ in 0..3 {
        world.http.get(format!("{}/healthz", world.url)).header("connection", "close").send().await.unwrap();
    }
    world.stop.cancel();
    let answers: Vec<_> = futures_util::future::join_all(waiting.into_iter().map(answered)).await;
    assert!(answers[0].ends_with("{\"executions\":[]}"), "{}", answers[0]);
    assert!(answers[1].contains("\"lost\":[]"), "{}", answers[1]);
    assert!(answers[2].contains("execution_not_terminal"), "{}", answers[2]);
    world.stop().await;
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn a_stopping_server_finishes_requests_and_accepts_no_connections() {
    let world = World::start().await;
    let body = "{\"kind\":\"k\"}";
    let head = "POST /v1/executions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 12\r\n\r\n";
    let mut running = connection(&world).await;
    running.write_all(head.as_bytes()).await.unwrap();
    // The server requests the body when a handler reads it.
    let mut response = [0; 25];
    running.read_exact(&mut response).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 100 Continue\r\n\r\n");
    world.stop.cancel();
    while TcpStream::connect(world.url.trim_start_matches("http://")).await.is_ok() {
        tokio::task::yield_now().await;
    }
    running.write_all(body.as_bytes()).await.unwrap();
    let answer = answered(running).await;
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    world.stop().await;
}

#[tokio::test]
async fn a_silent_connection_does_not_delay_a_stop() {
    let world = World::start().await;
    let began = Instant::now();
    let silent = connection(&world).await;
    world.get("/healthz").await;
    world.stop().await;
    assert_eq!(answered(silent).await, "");
    assert!(began.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn only_loopback_is_listened_on() {
    let ff = Runtime::without_engine(std::sync::Arc::new(MemoryBackend::default()));
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let Err(error) = Server::bind(address.parse().unwrap(), ff.clone()).await else {
            panic!("{address} was bound")
        };
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let message = error.to_string();
        assert!(message.contains("loopback") && message.lines().count() == 1, "{message}");
    }
    assert!(Server::bind("127.0.0.1:0".parse().unwrap(), ff).await.is_ok());
}
