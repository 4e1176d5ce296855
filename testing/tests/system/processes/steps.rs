//! Steps of workers and servers that are killed: recorded steps are not run again.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::step::StepOutcome;
use ff_core::types::ExecutionId;
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{Line, ServerProcess, StepRun, WorkerProcess, within};
use ff_testing::servers::{Flavour, Process};

use super::{LEASE_TTL, stop, stop_and_examine, submit};

/// Number of steps that the worker runs.
const STEPS: u32 = 4;
/// Long enough for a server to restart.
const LONG_LEASE: Duration = Duration::from_secs(15);
/// Number of jobs completed between two kills.
const JOBS_A_KILL: usize = 30;

/// A worker under test, and the execution that it runs.
struct StepWorker {
    worker: WorkerProcess,
    id: ExecutionId,
    attempt: u32,
}

impl StepWorker {
    async fn start(server: &ServerProcess, name: &str, lease: Duration, id: ExecutionId, attempt: u32) -> Self {
        let mut worker = WorkerProcess::ready(server.url(), name, lease, 1).await;
        assert_eq!(worker.says().await, Line::Started(id));
        Self { worker, id, attempt }
    }

    async fn runs(&mut self, nth: u32) {
        let step = StepRun { nth, attempt: self.attempt };
        assert_eq!(self.worker.says().await, Line::Ran(self.id, step));
    }

    async fn has(&mut self, nth: u32, by: u32) {
        let step = StepRun { nth, attempt: self.attempt };
        assert_eq!(self.worker.says().await, Line::Recorded(self.id, step, by));
    }

    /// Lets the handler pass its gate, either in a running step or after a recorded one.
    async fn go_on(&mut self) {
        self.worker.let_finish().await;
    }

    /// Runs the steps from `first` to the last.
    async fn run_from(&mut self, first: u32) {
        for nth in first..STEPS {
            self.runs(nth).await;
            self.go_on().await;
            self.has(nth, self.attempt).await;
            self.go_on().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_killed_within_a_step_costs_only_that_step() {
    let (server, mut doomed) = after_the_first_step().await;
    doomed.go_on().await;
    doomed.runs(1).await;
    doomed.worker.process.kill().await;
    finish_after_the_first(server, doomed.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_killed_between_steps_costs_none() {
    let (server, mut doomed) = after_the_first_step().await;
    doomed.worker.process.kill().await;
    finish_after_the_first(server, doomed.id).await;
}

/// Starts a server, and a worker that has recorded the first step of an execution.
async fn after_the_first_step() -> (ServerProcess, StepWorker) {
    let server = ServerProcess::start().await;
    let id = submit(&server.connect().await.client(), "hold-steps").await;
    let mut doomed = StepWorker::start(&server, "doomed", LEASE_TTL, id, 0).await;
    doomed.runs(0).await;
    doomed.go_on().await;
    doomed.has(0, 0).await;
    (server, doomed)
}

/// Lets another worker end an execution whose first step is recorded.
async fn finish_after_the_first(server: ServerProcess, id: ExecutionId) {
    let mut heir = StepWorker::start(&server, "heir", LEASE_TTL, id, 1).await;
    heir.has(0, 0).await;
    heir.go_on().await;
    heir.run_from(1).await;
    let end = within("the execution ends", server.connect().await.client().wait(&id)).await.unwrap();
    assert_eq!(end.json::<Vec<u32>>().unwrap(), [0, 1, 1, 1]);
    stop(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_around_a_recording_costs_no_step() {
    let mut server = ServerProcess::start().await;
    let id = submit(&server.connect().await.client(), "hold-steps").await;
    let mut worker = StepWorker::start(&server, "worker", LONG_LEASE, id, 0).await;
    // The server is killed while a step runs.
    worker.runs(0).await;
    server.kill_and_start_again().await;
    worker.go_on().await;
    worker.has(0, 0).await;
    // The server is killed between two steps.
    server.kill_and_start_again().await;
    worker.go_on().await;
    // The server is killed around the time when the step is recorded: before, while or after it receives the call.
    for nth in 1..STEPS {
        worker.runs(nth).await;
        worker.go_on().await;
        server.kill_and_start_again().await;
        worker.has(nth, 0).await;
        worker.go_on().await;
    }
    let client = server.connect().await.client();
    let end = within("the execution ends", client.wait(&id)).await.unwrap();
    assert_eq!(end.json::<Vec<u32>>().unwrap(), [0; STEPS as usize]);
    assert_eq!(client.steps(&id).await.unwrap().len(), STEPS as usize);
    assert_eq!(stop_and_examine(vec![server]).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_recorded_step_runs_again_under_kills() {
    are_killed_again_and_again(ServerProcess::start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_recorded_step_runs_again_under_kills_on_postgres() {
    let database = Postgres::quick();
    are_killed_again_and_again(ServerProcess::over(database.url("flowfabric")).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_recorded_step_runs_again_under_kills_on_valkey() {
    let valkey = Process::start(Flavour::Valkey, &[]);
    are_killed_again_and_again(ServerProcess::over(valkey.url()).await).await;
}

/// Kills workers and the server in turn while executions with steps run. `FF_KILLS` sets the number of kills.
async fn are_killed_again_and_again(mut server: ServerProcess) {
    let kills = number("FF_KILLS", 6);
    let flowfabric = server.connect().await;
    let client = flowfabric.client();
    let mut workers = vec![ready(&server, "ann").await, ready(&server, "bob").await];
    let mut ids = Vec::new();
    for _ in 0..(kills + 1) * JOBS_A_KILL {
        ids.push(submit(&client, "hurry-steps").await);
    }
    let mut lines = Vec::new();
    for kill in 0..kills {
        let last = ids[(kill + 1) * JOBS_A_KILL - 1];
        within("some of the work is done", client.wait(&last)).await.unwrap();
        if kill % 2 == 0 {
            let mut doomed = workers.remove(0);
            doomed.process.kill().await;
            lines.extend(doomed.remaining_lines().await);
            workers.push(ready(&server, &format!("heir-{kill}")).await);
        } else {
            server.kill_and_start_again().await;
        }
    }
    let mut ran_by = BTreeMap::new();
    for id in &ids {
        let end = within("the work is drained", client.wait(id)).await.unwrap();
        ran_by.insert(*id, end.json::<Vec<u32>>().unwrap());
        let recorded = client.steps(id).await.unwrap();
        let results = recorded.iter().map(|step| match &step.outcome {
            StepOutcome::Succeeded { result } => serde_json::from_slice::<u32>(&result.bytes).unwrap(),
            StepOutcome::Failed { failure } => panic!("{failure:?}"),
        });
        assert_eq!(results.collect::<Vec<_>>(), ran_by[id], "{id}");
    }
    for worker in &mut workers {
        worker.process.kill().await;
        lines.extend(worker.remaining_lines().await);
    }
    check_lines(&lines, &ran_by);
    assert_eq!(stop_and_examine(vec![server]).await, ids.len() as u64);
}

async fn ready(server: &ServerProcess, name: &str) -> WorkerProcess {
    WorkerProcess::ready(server.url(), name, LEASE_TTL, 4).await
}

/// Checks that every attempt gets the same result of a step, and that no attempt runs a step of which an earlier
/// attempt got the result.
fn check_lines(lines: &[Line], ran_by: &BTreeMap<ExecutionId, Vec<u32>>) {
    let mut runs = 0;
    for line in lines {
        match line {
            Line::Recorded(id, step, by) => assert_eq!(*by, ran_by[id][step.nth as usize], "{line}"),
            Line::Ran(id, step) => {
                runs += 1;
                let attempts = lines.iter().filter_map(|line| match line {
                    Line::Recorded(owner, recorded, _) if owner == id && recorded.nth == step.nth => {
                        Some(recorded.attempt)
                    }
                    _ => None,
                });
                assert!(attempts.min().is_none_or(|min| step.attempt <= min), "{line}, though it was recorded before");
            }
            _ => {}
        }
    }
    assert!(runs >= ran_by.len() * STEPS as usize, "only {runs} runs of steps were told");
}
