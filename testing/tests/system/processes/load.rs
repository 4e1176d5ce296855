//! A server that is killed repeatedly while clients and workers continue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ff_core::contracts::SubmitArgs;
use ff_core::engine_error::EngineError;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Kind};
use ff_sdk::FlowFabric;
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{Line, ServerProcess, Signal, WorkerProcess, within};
use tokio::sync::watch;
use tokio::time::interval;

use super::{LEASE_TTL, stop_and_examine};

const SUBMITTERS: usize = 6;
/// Number of jobs submitted between two kills.
const JOBS_A_KILL: usize = 360;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    is_killed_again_and_again(ServerProcess::start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_a_server_on_postgres_is_killed() {
    let database = Postgres::quick();
    is_killed_again_and_again(ServerProcess::over(database.url("flowfabric")).await).await;
}

/// Kills the server repeatedly under load. `FF_KILLS` sets the number of kills.
async fn is_killed_again_and_again(mut server: ServerProcess) {
    let kills = number("FF_KILLS", 6);
    let jobs = (kills + 1) * JOBS_A_KILL;
    let flowfabric = server.connect().await;
    let mut workers: Vec<_> =
        ["ann", "bob"].iter().map(|name| WorkerProcess::start(server.url(), name, LEASE_TTL, 8)).collect();
    let trouble = Arc::new(AtomicUsize::new(0));
    let (acknowledged, mut watching) = watch::channel(BTreeSet::new());
    let acknowledged = Arc::new(acknowledged);
    let submitting: Vec<_> = (0..SUBMITTERS)
        .map(|_| {
            tokio::spawn(keep_submitting(flowfabric.clone(), jobs / SUBMITTERS, acknowledged.clone(), trouble.clone()))
        })
        .collect();

    for kill in 1..=kills {
        let enough = kill * JOBS_A_KILL;
        within("submissions are acknowledged", watching.wait_for(|ids| ids.len() >= enough)).await.unwrap();
        server.kill_and_start_again().await;
    }
    for submitter in submitting {
        within("everything is submitted", submitter).await.unwrap();
    }

    let acknowledged = acknowledged.borrow().clone();
    assert_eq!(acknowledged.len(), jobs);
    assert!(trouble.load(Ordering::SeqCst) >= kills, "the submitters hardly noticed that the server was killed");
    let mut results = BTreeMap::new();
    for id in acknowledged {
        let ended = within("the work is drained", flowfabric.client().wait(&id)).await.unwrap();
        results.insert(id, ended.payload().unwrap().bytes);
    }
    let mut completions = BTreeSet::new();
    for worker in &mut workers {
        worker.process.send(Signal::TERM);
        for line in worker.remaining_lines().await {
            if let Line::Completed(id, result) = line {
                assert_eq!(results.get(&id).map(|bytes| &bytes[..]), Some(result.as_bytes()), "{id}");
                completions.insert(id);
            }
        }
        assert!(worker.process.end().await.success());
    }
    // A worker that lost its lease while the server was down may never receive the answer to its completion.
    assert!(completions.len() >= jobs * 9 / 10, "{} completions were acknowledged", completions.len());
    assert_eq!(stop_and_examine(vec![server]).await, jobs as u64);
}

/// Submits its share of the jobs, and repeats each submission until it is acknowledged.
async fn keep_submitting(
    flowfabric: FlowFabric,
    jobs: usize,
    acknowledged: Arc<watch::Sender<BTreeSet<ExecutionId>>>,
    trouble: Arc<AtomicUsize>,
) {
    for nth in 0..jobs {
        let args = SubmitArgs::new(Kind::parse("hurry").unwrap(), Payload::json(nth.to_string()));
        let mut again = interval(Duration::from_millis(20));
        let id = loop {
            match flowfabric.backend().submit(args.clone()).await {
                Ok(submitted) => break submitted.execution_id,
                Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => {
                    trouble.fetch_add(1, Ordering::SeqCst);
                    again.tick().await;
                }
                Err(error) => panic!("a submission was refused: {error}"),
            }
        };
        acknowledged.send_modify(|ids| {
            ids.insert(id);
        });
    }
}
