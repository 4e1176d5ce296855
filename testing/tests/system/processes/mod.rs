//! Executions whose processes are killed, stopped, woken and restarted.

mod abuse;
mod admission_outage;
mod browser;
mod budgets;
mod flows;
mod freezing;
mod load;
mod quotas;
mod schedules;
mod server;
mod steps;
mod workers;

use std::time::Duration;

use ff_core::types::ExecutionId;
use ff_sdk::{Client, Job};
use ff_testing::processes::ServerProcess;

const LEASE_TTL: Duration = Duration::from_millis(1_500);

async fn submit(client: &Client, kind: &str) -> ExecutionId {
    client.submit(Job::new(kind, &"cat.png")).await.unwrap().execution_id
}

async fn stop(server: ServerProcess) {
    assert!(server.interrupt().await.success(), "the server did not stop well");
}
