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
use ff_testing::processes::{ServerProcess, doctor};

const LEASE_TTL: Duration = Duration::from_millis(1_500);

async fn submit(client: &Client, kind: &str) -> ExecutionId {
    client.submit(Job::new(kind, &"cat.png")).await.unwrap().execution_id
}

async fn stop(mut server: ServerProcess) {
    assert!(server.interrupt().await.success(), "the server did not stop well");
}

/// Stops the servers of a store, and examines it with `ff doctor`. Returns the number of executions.
async fn stop_and_examine(mut servers: Vec<ServerProcess>) -> u64 {
    for server in &mut servers {
        assert!(server.interrupt().await.success(), "a server did not stop well");
    }
    doctor(servers[0].store()).await
}
