//! The example page in a real browser. It follows an execution with only an `EventSource` and a token.

use std::net::SocketAddr;
use std::time::Duration;

use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::entropy::SystemEntropy;
use ff_core::contracts::{AppendFramesArgs, CompleteArgs, CreateKeyArgs, NextArgs, Task};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::stream::Frame;
use ff_core::types::KeyName;
use ff_sdk::{Connect, FlowFabric};
use ff_testing::processes::{Browser, ServerProcess, within};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::{stop, submit};

const PAGE: &str = include_str!("../../../../examples/stream-page/index.html");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_reads_a_stream_to_its_end_over_a_restart_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let page = serve_page().await;
    let store = format!("sqlite:{}", folder.path().join("flowfabric.db").display());
    let key = create_key(&store).await;
    let options = ["--cors-origin".to_owned(), format!("http://{page}")];
    let mut server = ServerProcess::with_options(store, &options).await;
    let fabric = Connect::to(server.url()).key(key).connect().await.unwrap();
    let client = fabric.client();
    let id = submit(&client, "talk").await;
    let token = client.stream_token(&id, Duration::from_secs(600)).await.unwrap().expose();
    let url = server.url().to_owned();
    let address = |token: &str| format!("http://{page}/#server={url}&execution={id}&token={token}");

    let mut browser = Browser::start();
    let mut tab = browser.open(&address(&token)).await;
    let first = claim(&fabric).await;
    append(&fabric, &first, &["one ", "two "]).await;
    tab.shows("two").await;
    client.revoke(&id, None).await.unwrap();
    let second = claim(&fabric).await;
    append(&fabric, &second, &["drei "]).await;
    tab.shows("drei").await;

    server.kill_and_start_again().await;
    append(&fabric, &second, &["vier ", "fünf "]).await;
    tab.shows("fünf").await;
    append(&fabric, &second, &["sechs"]).await;
    complete(&fabric, &second).await;
    tab.shows("ended: success").await;
    let shown = "[...document.querySelectorAll('pre')].map((pre) => [getComputedStyle(pre).textDecorationLine, pre.textContent])";
    assert_eq!(tab.value(shown).await, json!([["line-through", "one two "], ["none", "drei vier fünf sechs"]]));
    assert_eq!(tab.value("source.readyState === EventSource.CLOSED").await, true, "it does not come back");

    let forged = token.replace(token.rsplit(':').next().unwrap(), &"0".repeat(64));
    let mut refused = browser.open(&address(&forged)).await;
    refused.shows("refused").await;
    drop(browser);
    stop(server).await;
}

/// Creates a key with all permissions, in a store that no server has open.
async fn create_key(store: &str) -> SecretKey {
    let key = SecretKey::draw(&SystemEntropy);
    let fabric = Connect::to(store).without_engine().connect().await.unwrap();
    let args = CreateKeyArgs {
        key_id: key.id().clone(),
        name: KeyName::parse("everything").unwrap(),
        secret_hash: key.hash(),
        roles: [Role::Admin].into(),
        namespace: None,
        ttl_ms: None,
    };
    fabric.client().create_key(args).await.unwrap();
    fabric.shutdown().await;
    key
}

async fn claim(fabric: &FlowFabric) -> Task {
    let next = NextArgs { wait_ms: 10_000, ..NextArgs::new(Holder::parse("speaker", "speaker-1").unwrap()) };
    let claimed = within("the work is claimed", fabric.long_poll().next(next)).await.unwrap();
    claimed.into_iter().next().expect("there is work").task
}

async fn append(fabric: &FlowFabric, task: &Task, words: &[&str]) {
    let args = AppendFramesArgs {
        execution_id: task.execution_id,
        fence: task.fence,
        from: None,
        mode: None,
        max_frames: None,
        max_bytes: None,
        frames: words.iter().map(|word| Frame::text(*word)).collect(),
    };
    fabric.backend().append_frames(args).await.unwrap();
}

async fn complete(fabric: &FlowFabric, task: &Task) {
    let args = CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: Some(Payload::json("1")) };
    fabric.backend().complete(args).await.unwrap();
}

/// Serves the example page at its own address, for every path.
async fn serve_page() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut connection = BufReader::new(connection);
                let mut line = String::new();
                while connection.read_line(&mut line).await.is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {}\r\n\r\n{PAGE}", PAGE.len());
                // The write fails if the browser has closed the connection.
                connection.write_all(answer.as_bytes()).await.ok();
            });
        }
    });
    address
}
