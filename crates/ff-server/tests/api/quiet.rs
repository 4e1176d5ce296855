//! What the log says: every request with its route and status, never what a payload holds.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;

use crate::world::World;

const CANARY: &str = "canary-8d1f2c";

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn payloads_are_never_logged() {
    let log = Log::default();
    let writer = log.clone();
    let format = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
    format.with_writer(move || writer.clone()).init();

    let world = World::start().await;
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
    world.stop().await;

    let said = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for expected in ["method=POST", "route=\"/v1/executions/{id}/complete\"", "status=200", "status=400"] {
        assert!(said.contains(expected), "{expected} is not in the log:\n{said}");
    }
    let leaks: Vec<_> = said.lines().filter(|line| line.contains(CANARY) || line.contains(&encoded)).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}
