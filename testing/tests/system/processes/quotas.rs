//! Quotas whose servers and workers are killed between reservation, claim and settlement. No rate and no number of
//! slots is exceeded, and all work ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ff_core::contracts::QuotaDefinition;
use ff_core::execution::Outcome;
use ff_core::quota::Rate;
use ff_core::types::ExecutionId;
use ff_sdk::{Client, Job};
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{Line, ServerProcess, Signal, WorkerProcess};
use ff_testing::servers::{Flavour, Process};
use tokio::time::{interval, timeout};

use super::stop_and_examine;

const KIND: &str = "timed";
const CUSTOMERS: usize = 6;

/// The limits of all work together and of each customer.
const ALL: Limit = Limit { rate: Rate { limit: 40, window_ms: 2_000 }, at_once: 6 };
const EACH: Limit = Limit { rate: Rate { limit: 10, window_ms: 2_000 }, at_once: 2 };

/// Longest time between the admission by a quota and the claim.
const ON_THE_WAY_MS: i64 = 500;

/// Longer than a server takes to restart, so that only killed workers lose their leases.
const LEASE_TTL: Duration = Duration::from_secs(6);

/// Reservations of a killed process are released within 30 seconds, and its leases expire. Then work continues.
const PATIENCE: Duration = Duration::from_secs(100);

/// Number of executions that begin between two kills.
const BEGUN_BETWEEN: usize = 40;

struct Limit {
    rate: Rate,
    at_once: u32,
}

impl Limit {
    fn of(&self, per: Option<&str>) -> QuotaDefinition {
        let (scope, per) = (format!("kind:{KIND}").parse().unwrap(), per.map(|per| per.parse().unwrap()));
        QuotaDefinition { scope, per, rate: Some(self.rate), max_concurrent: Some(self.at_once) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_quota_is_exceeded_though_processes_are_killed_on_sqlite() {
    kill_again_and_again(vec![ServerProcess::start().await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_quota_is_exceeded_though_processes_are_killed_on_valkey() {
    let valkey = Process::start(Flavour::Valkey, &[]);
    let server = async || ServerProcess::over(valkey.url()).await;
    kill_again_and_again(vec![server().await, server().await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_quota_is_exceeded_though_processes_are_killed_on_postgres() {
    let postgres = Postgres::quick();
    let server = async || ServerProcess::over(postgres.url("flowfabric")).await;
    kill_again_and_again(vec![server().await, server().await]).await;
}

/// Kills servers and workers in turn. `FF_KILLS` sets the number of kills.
async fn kill_again_and_again(mut servers: Vec<ServerProcess>) {
    let kills = number("FF_KILLS", 6);
    let client = servers[0].connect().await.client();
    client.quota("all").unwrap().put(ALL.of(None)).await.unwrap();
    client.quota("each").unwrap().put(EACH.of(Some("tag:customer"))).await.unwrap();
    let customers = submit(&client, BEGUN_BETWEEN * (kills + 2)).await;
    let mut witness = WorkerLog::default();
    for (nth, server) in servers.iter().enumerate() {
        witness.hire(server, nth);
        witness.hire(server, nth);
    }
    for nth in 0..kills {
        witness.sees_begun(BEGUN_BETWEEN).await;
        let of = nth / 2 % servers.len();
        if nth % 2 == 0 {
            servers[of].kill_and_start_again().await;
        } else {
            witness.loses_a_worker(&servers[of], of).await;
        }
    }
    let killed = Instant::now();
    all_complete(&client, customers.keys()).await;
    println!("all work has ended {:?} after the last kill", killed.elapsed());
    witness.dismiss().await;

    let of_customer = |id: &ExecutionId| customers[id].as_str();
    no_slots_exceeded(&witness.spans(), |_| "all", ALL.at_once);
    no_slots_exceeded(&witness.spans(), of_customer, EACH.at_once);
    let claimed = claims(&client, customers.keys()).await;
    assert!(claimed.len() >= witness.spans().len(), "work began that nobody claimed");
    no_window_exceeded(&claimed, |_| "all", ALL.rate);
    no_window_exceeded(&claimed, of_customer, EACH.rate);
    nothing_is_left(&client).await;
    println!("slots are free again {:?} after the last kill", killed.elapsed());
    for server in &servers {
        let corrected = server.metric("ff_quota_corrections_total").await;
        println!("{} corrected {corrected} leftovers of quotas", server.url());
    }
    assert_eq!(stop_and_examine(servers).await, customers.len() as u64);
}

/// Submits work of each customer in turn, and returns the customer of each execution.
async fn submit(client: &Client, count: usize) -> BTreeMap<ExecutionId, String> {
    let mut customers = BTreeMap::new();
    for nth in 0..count {
        let customer = format!("c{}", nth % CUSTOMERS);
        let job = Job::new(KIND, &nth).tag("customer", &customer);
        customers.insert(client.submit(job).await.unwrap().execution_id, customer);
    }
    customers
}

/// The workers, and the times that they report for the begin and end of work.
#[derive(Default)]
struct WorkerLog {
    workers: Vec<(usize, WorkerProcess)>,
    hired: usize,
    running: BTreeMap<(usize, ExecutionId), i64>,
    /// Finished work: the worker, the execution, its begin and its end.
    spans: Vec<(usize, ExecutionId, i64, i64)>,
    begun: usize,
}

impl WorkerLog {
    fn hire(&mut self, server: &ServerProcess, nth: usize) {
        self.hired += 1;
        let worker = WorkerProcess::start(server.url(), &format!("worker-{}", self.hired), LEASE_TTL, 6);
        self.workers.push((nth * 1_000 + self.hired, worker));
    }

    fn listen(&mut self) {
        for (worker, process) in &mut self.workers {
            for line in process.new_lines() {
                match line {
                    Line::Began(id, at) => {
                        self.begun += 1;
                        self.running.insert((*worker, id), at);
                    }
                    Line::Ended(id, at) => {
                        let began = self.running.remove(&(*worker, id)).expect("work ends that began");
                        self.spans.push((*worker, id, began, at));
                    }
                    Line::Refused(id, code) => {
                        println!("the end of {id} is refused: {code}");
                        // The lease, and with it the slot, ended during the work. This happens if a server is down for
                        // longer.
                        let lost = self.spans.iter().rposition(|(of, work, ..)| (of, work) == (worker, &id));
                        self.spans.remove(lost.expect("work ends before its end is refused"));
                    }
                    _ => {}
                }
            }
        }
    }

    async fn sees_begun(&mut self, more: usize) {
        let (wanted, since) = (self.begun + more, Instant::now());
        let mut look = interval(Duration::from_millis(5));
        while self.begun < wanted {
            look.tick().await;
            self.listen();
            assert!(since.elapsed() < PATIENCE, "{} of {wanted} began", self.begun);
        }
    }

    /// Kills a worker of a server during its work, and starts another one.
    async fn loses_a_worker(&mut self, server: &ServerProcess, nth: usize) {
        let at = self.workers.iter().position(|(worker, _)| worker / 1_000 == nth).expect("a worker of the server");
        self.workers[at].1.process.kill().await;
        let killed_at = jiff::Timestamp::now().as_millisecond();
        self.listen();
        let (dead, _) = self.workers.remove(at);
        let lost: Vec<_> = self.running.keys().filter(|(worker, _)| *worker == dead).copied().collect();
        for key in lost {
            let began = self.running.remove(&key).expect("it was there");
            self.spans.push((dead, key.1, began, killed_at));
        }
        self.hire(server, nth);
    }

    /// Stops all workers.
    async fn dismiss(&mut self) {
        for (_, worker) in &mut self.workers {
            worker.process.send(Signal::TERM);
            worker.process.end().await;
        }
        self.listen();
        assert_eq!(self.running, BTreeMap::new(), "work began that did not end");
    }

    /// Returns the times during which a live worker had work: the execution, its begin and its end.
    fn spans(&self) -> Vec<(ExecutionId, i64, i64)> {
        self.spans.iter().map(|(_, id, began, ended)| (*id, *began, *ended)).collect()
    }
}

async fn all_complete(client: &Client, ids: impl Iterator<Item = &ExecutionId>) {
    let since = Instant::now();
    for id in ids {
        let left = PATIENCE.saturating_sub(since.elapsed());
        let Ok(end) = timeout(left, client.wait(id)).await else {
            panic!("work has not ended: {:#?}", client.explain(id).await.unwrap());
        };
        assert_eq!(end.unwrap().0.outcome, Outcome::Success);
    }
}

/// Returns the time of each attempt's claim, by the clock of the store.
async fn claims(client: &Client, ids: impl Iterator<Item = &ExecutionId>) -> Vec<(ExecutionId, i64)> {
    let mut claims = Vec::new();
    for id in ids {
        let attempts = client.attempts(id).await.unwrap().attempts;
        claims.extend(attempts.iter().map(|attempt| (*id, attempt.started_at.0)));
    }
    claims
}

/// Checks that workers never have more work of a key at the same time than the limit allows.
fn no_slots_exceeded<'a>(spans: &[(ExecutionId, i64, i64)], key: impl Fn(&ExecutionId) -> &'a str, at_once: u32) {
    // At the same time, ends come before begins.
    let mut changes: Vec<_> =
        spans.iter().flat_map(|(id, began, ended)| [(*began, 1, key(id)), (*ended, -1, key(id))]).collect();
    changes.sort_unstable();
    let mut now = BTreeMap::new();
    for (at, change, key) in changes {
        let count = now.entry(key).or_insert(0);
        *count += change;
        assert!(*count <= i64::from(at_once), "{count} of {key} were with workers at {at}, and {at_once} may be");
    }
}

/// Checks that no more work of a key is claimed within any window than the limit allows.
fn no_window_exceeded<'a>(claims: &[(ExecutionId, i64)], key: impl Fn(&ExecutionId) -> &'a str, rate: Rate) {
    let mut by_key = BTreeMap::<_, Vec<i64>>::new();
    claims.iter().for_each(|(id, at)| by_key.entry(key(id)).or_default().push(*at));
    let (limit, window_ms) = (usize::try_from(rate.limit).unwrap(), i64::try_from(rate.window_ms).unwrap());
    for (key, mut moments) in by_key {
        moments.sort_unstable();
        let spans = moments.iter().zip(moments.iter().skip(limit)).map(|(first, last)| last - first);
        let shortest = spans.min().unwrap_or(window_ms);
        println!("{} of {key} were claimed within {shortest} ms at the fastest", limit + 1);
        assert!(shortest >= window_ms - ON_THE_WAY_MS, "more than {limit} of {key} within {window_ms} ms: {moments:?}");
    }
}

/// Waits until the reservations of dead processes are released.
async fn nothing_is_left(client: &Client) {
    let since = Instant::now();
    let mut look = interval(Duration::from_millis(500));
    for quota in ["all", "each"] {
        let quota = client.quota(quota).unwrap();
        loop {
            let used = quota.describe().await.unwrap().keys;
            if used.iter().all(|used| used.held == 0 && used.waiting == 0) {
                break;
            }
            assert!(since.elapsed() < PATIENCE, "slots are not given back: {used:?}");
            look.tick().await;
        }
    }
}
