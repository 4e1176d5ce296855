//! The workers printed in the page about the worker protocol run unchanged, while the server and the workers are
//! killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ff_core::contracts::ListStepsArgs;
use ff_core::step::StepOutcome;
use ff_core::types::ExecutionId;
use ff_sdk::{Client, Job};
use ff_testing::processes::{Process, ServerProcess, Signal, within};
use serde_json::json;
use tokio::process::Command;
use tokio::time::interval;

const PAGE: &str = include_str!("../../../docs/worker-protocol.md");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_in_python_survives_the_server_and_its_own_death() {
    survives("python3", "python", "worker.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_in_node_survives_the_server_and_its_own_death() {
    survives("node", "js", "worker.mjs").await;
}

async fn survives(program: &str, language: &str, file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, printed(language)).unwrap();
    let mut server = ServerProcess::start().await;
    let client = server.connect().await.client();
    let mut worker = start(program, &path, server.url());

    let first = greet(&client, "Ada", 0.0).await;
    assert_eq!(greeting(&client, &first).await, "hello, Ada");

    // The server is killed during the work: the worker continues and reports to the restarted server.
    let second = greet(&client, "Bob", 2.0).await;
    started(&mut worker, &second).await;
    server.kill_and_start_again().await;
    let client = server.connect().await.client();
    assert_eq!(greeting(&client, &second).await, "hello, Bob");
    assert_eq!(client.attempts(&second).await.unwrap().attempts.len(), 1, "it was done once");

    // A worker that is stopped during the work finishes the work first.
    let last = greet(&client, "Cy", 1.0).await;
    started(&mut worker, &last).await;
    worker.send(Signal::TERM);
    assert!(worker.end().await.success(), "it stops well");
    assert_eq!(greeting(&client, &last).await, "hello, Cy");

    // A worker is killed during the work: another worker does the work after the lease is revoked.
    let mut killed = start(program, &path, server.url());
    let lost = greet(&client, "Di", 1.0).await;
    started(&mut killed, &lost).await;
    let ticket = if language == "python" { Some(ticket_drawn(&server, &lost).await) } else { None };
    killed.kill().await;
    client.revoke(&lost, None).await.unwrap();
    let mut other = start(program, &path, server.url());
    assert_eq!(greeting(&client, &lost).await, "hello, Di");
    assert_eq!(field(&client, &lost, "ticket").await, ticket, "the step that was recorded was not done again");
    other.send(Signal::TERM);
    assert!(other.end().await.success());
    assert!(server.interrupt().await.success(), "the server did not stop well");
}

/// Returns the program in a language as the page prints it.
fn printed(language: &str) -> String {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).expect("the page prints a worker");
    rest.split_once("```\n").expect("it ends").0.to_owned()
}

fn start(program: &str, path: &Path, server: &str) -> Process {
    let path: PathBuf = path.to_owned();
    Process::start(program, Command::new(program).arg(path).env("FF_SERVER", server).env_remove("FF_API_KEY"))
}

async fn greet(client: &Client, name: &str, seconds: f64) -> ExecutionId {
    client.submit(Job::new("greet", &json!({"name": name, "seconds": seconds}))).await.unwrap().execution_id
}

async fn greeting(client: &Client, id: &ExecutionId) -> String {
    field(client, id, "greeting").await.unwrap()
}

/// Waits for the end of the work and returns a text field of its result.
async fn field(client: &Client, id: &ExecutionId, name: &str) -> Option<String> {
    let end = within("the work ends", client.wait(id)).await.unwrap();
    let result: serde_json::Value = serde_json::from_slice(&end.payload().unwrap().bytes).unwrap();
    result[name].as_str().map(str::to_owned)
}

/// Waits until the first step is recorded, and returns its result.
async fn ticket_drawn(server: &ServerProcess, id: &ExecutionId) -> String {
    let flowfabric = server.connect().await;
    let looked = async {
        let mut again = interval(Duration::from_millis(20));
        loop {
            let page = flowfabric.backend().list_steps(ListStepsArgs::new(*id)).await.unwrap();
            if let Some(StepOutcome::Succeeded { result }) = page.steps.into_iter().next().map(|step| step.outcome) {
                return serde_json::from_slice(&result.bytes).unwrap();
            }
            again.tick().await;
        }
    };
    within("the first step is recorded", looked).await
}

/// Waits until the worker has the execution. The claim is stored before the worker receives it.
async fn started(worker: &mut Process, id: &ExecutionId) {
    let running = format!("running {id}");
    while worker.line().await.expect("the worker runs") != running {}
}
