//! Workers that are killed, suspended past their lease, or stopped.

use std::time::{Duration, Instant};

use ff_core::state::PublicState;
use ff_core::types::ExecutionId;
use ff_sdk::Client;
use ff_testing::processes::{Line, ServerProcess, Signal, WorkerProcess, within};
use tokio::time::interval;

use super::{LEASE_TTL, stop, submit};

/// How long after the end of a killed worker's lease its work may run again.
const LATE: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_of_a_killed_worker_runs_again_once() {
    let server = ServerProcess::start().await;
    let client = server.connect().await.client();
    let mut doomed = ready(&server, "doomed").await;
    let id = submit(&client, "hold").await;
    assert_eq!(doomed.says().await, Line::Started(id));
    let mut heir = ready(&server, "heir").await;

    doomed.process.kill().await;
    let killed = Instant::now();
    assert_eq!(heir.says().await, Line::Started(id));
    let took = killed.elapsed();
    assert!(took <= LEASE_TTL + LATE, "it took {took:?} until the work ran again");

    heir.let_finish().await;
    assert!(matches!(heir.says().await, Line::Completed(done, _) if done == id));
    assert_eq!(client.attempts(&id).await.unwrap().attempts.len(), 2, "once more, and no more");
    heir.process.send(Signal::TERM);
    assert_eq!(heir.remaining_lines().await, []);
    stop(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_woken_after_its_lease_is_refused() {
    let server = ServerProcess::start().await;
    let client = server.connect().await.client();
    let mut sleeper = ready(&server, "sleeper").await;
    let id = submit(&client, "hold").await;
    assert_eq!(sleeper.says().await, Line::Started(id));
    sleeper.process.send(Signal::STOP);

    let mut heir = ready(&server, "heir").await;
    assert_eq!(heir.says().await, Line::Started(id));
    sleeper.let_finish().await;
    sleeper.process.send(Signal::CONT);
    assert_eq!(sleeper.says().await, Line::Refused(id, "stale_lease".to_owned()), "somebody else holds it");
    assert_eq!(client.get(&id).await.unwrap().public_state, PublicState::Active);

    heir.let_finish().await;
    let Line::Completed(_, result) = heir.says().await else { panic!("the heir was disturbed") };
    assert_eq!(client.result(&id).await.unwrap().payload().unwrap().bytes, result);
    assert_eq!(client.attempts(&id).await.unwrap().attempts.len(), 2);
    stop(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_worker_finishes_its_execution_and_claims_no_more() {
    let server = ServerProcess::start().await;
    let client = server.connect().await.client();
    let mut worker = ready(&server, "worker").await;
    let id = submit(&client, "hold").await;
    assert_eq!(worker.says().await, Line::Started(id));

    worker.process.send(Signal::TERM);
    // The wait is longer than the lease, so the worker must continue to renew it.
    renewed_past(&client, &id, LEASE_TTL).await;
    assert!(worker.process.runs());
    let other = submit(&client, "hold").await;
    worker.let_finish().await;

    assert!(matches!(worker.says().await, Line::Completed(done, _) if done == id));
    assert_eq!(worker.remaining_lines().await, [], "it takes nothing new");
    assert!(worker.process.end().await.success());
    assert_eq!(client.get(&id).await.unwrap().public_state, PublicState::Completed);
    assert_eq!(client.attempts(&id).await.unwrap().attempts.len(), 1);
    assert_eq!(client.get(&other).await.unwrap().public_state, PublicState::Waiting);
    stop(server).await;
}

async fn ready(server: &ServerProcess, name: &str) -> WorkerProcess {
    WorkerProcess::ready(server.url(), name, LEASE_TTL, 1).await
}

/// Waits until the lease of an execution has been extended by more than `by`.
async fn renewed_past(client: &Client, id: &ExecutionId, by: Duration) {
    let first = client.get(id).await.unwrap().lease.unwrap().expires_at;
    let by = u64::try_from(by.as_millis()).unwrap();
    within("the lease is renewed", async {
        let mut look = interval(Duration::from_millis(50));
        while client.get(id).await.unwrap().lease.unwrap().expires_at.since(first) <= by {
            look.tick().await;
        }
    })
    .await;
}
