//! Usage that is reported while servers and workers are killed. Every budget counts each report once.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::budget::Amounts;
use ff_core::contracts::{BudgetInfo, BudgetRef, PutBudgetArgs, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::types::{BudgetName, Dimension, ExecutionId, Kind, Namespace};
use ff_sdk::FlowFabric;
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{ServerProcess, WorkerProcess, within};
use ff_testing::servers::{Flavour, Process};
use tokio::time::{interval, timeout};
use uuid::Uuid;

use super::{LEASE_TTL, stop_and_examine};

/// Number of executions submitted between two kills.
const JOBS_A_KILL: usize = 120;

/// Time limit for an execution whose reservation led to no lease, and for the release of such a reservation. It is
/// longer than the reservation lasts plus the time until the next check, because the execution is not claimed before.
const GIVEN_BACK: Duration = Duration::from_secs(60);

/// The usage of an execution: four reports of 1 to 4 tokens and one call each.
const SPENT: [(&str, u64); 2] = [("calls", 4), ("tokens", 10)];

const BUDGETS: [(&str, &str); 2] = [
    ("all", r#"{"scope":"namespace","limits":{"tokens":{"hard":100000000,"soft":500},"calls":{"soft":1}}}"#),
    ("kind", r#"{"scope":"kind:spend","limits":{"tokens":{"hard":100000000}},"estimate":{"*":{"tokens":10}}}"#),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_report_counts_once_though_server_and_workers_are_killed() {
    kill_repeatedly(vec![ServerProcess::start().await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_report_counts_once_with_two_servers_on_valkey() {
    let valkey = Process::start(Flavour::Valkey, &[]);
    kill_repeatedly(vec![ServerProcess::over(valkey.url()).await, ServerProcess::over(valkey.url()).await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_report_counts_once_with_two_servers_on_postgres() {
    let postgres = Postgres::quick();
    let url = || postgres.url("flowfabric");
    kill_repeatedly(vec![ServerProcess::over(url()).await, ServerProcess::over(url()).await]).await;
}

/// Kills servers and workers in turn while reports come in, and compares the counts of the budgets with the reports.
/// `FF_KILLS` sets the number of kills.
async fn kill_repeatedly(mut servers: Vec<ServerProcess>) {
    let kills = number("FF_KILLS", 6);
    let flowfabric = servers[0].connect().await;
    for (name, json) in BUDGETS {
        let (namespace, definition) = (Namespace::default_name(), Some(serde_json::from_str(json).unwrap()));
        let args = PutBudgetArgs { namespace, name: BudgetName::parse(name).unwrap(), definition };
        flowfabric.backend().put_budget(args).await.unwrap();
    }
    let worker =
        |server: &ServerProcess, nth: usize| WorkerProcess::start(server.url(), &format!("w{nth}"), LEASE_TTL, 4);
    let mut workers: Vec<_> = (0..2).map(|nth| worker(&servers[nth % servers.len()], nth)).collect();
    let mut ids = Vec::new();
    for nth in 0..kills {
        let spending = SubmitArgs::new(Kind::parse("spend").unwrap(), Payload::default());
        let work = (0..JOBS_A_KILL).map(|_| SubmitArgs { uuid: Uuid::now_v7(), ..spending.clone() }).collect();
        let submitted = flowfabric.backend().submit_many(work).await.unwrap();
        let some = calls(ids.len() + JOBS_A_KILL / 4);
        ids.extend(submitted.into_iter().map(|one| one.unwrap().execution_id));
        within("reports come in", counted(&flowfabric, some)).await;
        let at = nth % servers.len();
        if nth % 2 == 0 {
            workers[nth / 2 % 2].process.kill().await;
        }
        servers[at].kill_and_start_again().await;
        if nth % 2 == 0 {
            workers[nth / 2 % 2] = worker(&servers[nth / 2 % 2 % servers.len()], 2 + nth);
        }
    }
    for id in &ids {
        let Ok(end) = timeout(GIVEN_BACK, flowfabric.client().wait(id)).await else {
            panic!("{id} is not done: {:?}", flowfabric.backend().explain(id).await);
        };
        end.unwrap().payload().unwrap();
    }
    let Ok(budgets) = timeout(GIVEN_BACK, settled(&flowfabric)).await else {
        panic!("reservations are not given back: {:?}", describe(&flowfabric, "kind").await);
    };
    let reported = reported(&flowfabric, &ids).await;
    let jobs = u64::try_from(ids.len()).unwrap();
    let expected: Amounts = SPENT.map(|(name, each)| (Dimension::parse(name).unwrap(), each * jobs)).into();
    assert_eq!(reported, expected, "each report is part of its execution's usage once");
    for budget in budgets {
        for (dimension, balance) in &budget.balance {
            let name = &budget.budget.name;
            assert_eq!((balance.used, balance.spent), (expected[dimension], expected[dimension]), "{name} {dimension}");
        }
    }
    println!("{} reports by {jobs} executions, {kills} kills of servers, {} of workers", 4 * jobs, kills.div_ceil(2));
    for server in &servers {
        println!("corrected by {}: {}", server.url(), corrections(server).await);
    }
    for worker in &mut workers {
        worker.process.kill().await;
    }
    assert_eq!(stop_and_examine(servers).await, jobs);
}

async fn describe(flowfabric: &FlowFabric, name: &str) -> Option<BudgetInfo> {
    let budget = BudgetRef { namespace: Namespace::default_name(), name: BudgetName::parse(name).unwrap() };
    // A server that is restarting does not answer.
    flowfabric.backend().describe_budget(budget).await.ok()
}

/// Returns the number of calls that this many executions report.
fn calls(executions: usize) -> u64 {
    SPENT[0].1 * u64::try_from(executions).unwrap()
}

/// Waits until this many calls have been counted.
async fn counted(flowfabric: &FlowFabric, calls: u64) {
    let dimension = Dimension::parse("calls").unwrap();
    let mut looks = interval(Duration::from_millis(10));
    loop {
        looks.tick().await;
        if describe(flowfabric, "all").await.is_some_and(|info| info.balance[&dimension].used >= calls) {
            return;
        }
    }
}

/// Waits until no budget has reservations, and returns the budgets.
async fn settled(flowfabric: &FlowFabric) -> Vec<BudgetInfo> {
    let mut looks = interval(Duration::from_millis(100));
    loop {
        looks.tick().await;
        let mut budgets = Vec::new();
        for (name, _) in BUDGETS {
            budgets.extend(describe(flowfabric, name).await);
        }
        let balances = || budgets.iter().flat_map(|budget| budget.balance.values());
        if budgets.len() == BUDGETS.len() && balances().all(|balance| balance.reserved == 0) {
            return budgets;
        }
    }
}

/// Returns the sum of the reports of the executions.
async fn reported(flowfabric: &FlowFabric, ids: &[ExecutionId]) -> Amounts {
    let mut sum = BTreeMap::new();
    for id in ids {
        for (dimension, amount) in flowfabric.client().usage(id).await.unwrap().usage {
            *sum.entry(dimension).or_default() += amount;
        }
    }
    sum
}

/// Returns the metric of the leftovers that a server has corrected.
async fn corrections(server: &ServerProcess) -> String {
    let metrics = server.read("/metrics").await;
    let line = metrics.lines().find(|line| line.starts_with("ff_quota_corrections_total"));
    line.expect("the server counts corrections").to_owned()
}
