//! Quotas while servers are killed between reserving, claiming and settling, and while the store does not answer: no slot and no
//! window is ever exceeded as the handlers see it, nothing is lost, and everything ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ff_core::contracts::{ClaimArgs, QuotaDefinition};
use ff_core::engine_error::EngineError;
use ff_core::lease::Holder;
use ff_core::quota::Rate;
use ff_core::types::{ExecutionId, TimestampMs};
use ff_sdk::{Context, Fault, FlowFabric, Job};
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{ServerProcess, doctor, within};
use ff_testing::servers::{Flavour, Process};
use tokio::sync::{oneshot, watch};
use tokio::time::{interval, timeout};

use super::freezing::Freeze;
use super::stop;

const CUSTOMERS: usize = 4;
const JOBS_OF_A_CUSTOMER: usize = 60;
/// How many of one customer may be held at once.
const SLOTS: u32 = 2;
/// How many of all may be claimed within any window.
const RATE: Rate = Rate { limit: 80, window_ms: 2_000 };
/// A claim comes after its admission, by as long as a call takes on a busy machine.
const LATE_MS: u64 = 500;
/// Far longer than a handler runs, so that no handler outlives its lease.
const LEASE_TTL: Duration = Duration::from_secs(4);
/// How long a handler runs.
const WORK: Duration = Duration::from_millis(40);
/// What a killed server had reserved is given back within this time, and then the rest of the work is done.
const DRAINED: Duration = Duration::from_secs(50);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_while_servers_on_postgres_are_killed() {
    let database = Postgres::quick();
    limits_hold(database.url("flowfabric"), &database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_while_servers_on_valkey_are_killed() {
    let valkey = Process::start(Flavour::Valkey, &[]);
    limits_hold(valkey.url(), &valkey).await;
}

/// `FF_KILLS` says how often a server is killed.
async fn limits_hold(url: String, store: &dyn Freeze) {
    let mut servers = vec![ServerProcess::over(url.clone()).await, ServerProcess::over(url).await];
    let flowfabric = servers[0].connect().await;
    let client = flowfabric.client();
    let slots = QuotaDefinition {
        scope: "namespace".parse().unwrap(),
        per: Some("tag:customer".parse().unwrap()),
        rate: None,
        max_concurrent: Some(SLOTS),
    };
    client.quota("slots").unwrap().put(slots.clone()).await.unwrap();
    let rate = QuotaDefinition { per: None, rate: Some(RATE), max_concurrent: None, ..slots };
    client.quota("rate").unwrap().put(rate).await.unwrap();

    let log = HandlerLog::default();
    let mut workers = Vec::new();
    for (nth, server) in servers.iter().enumerate() {
        workers.push(work(server.connect().await, &format!("worker-{nth}"), log.clone()));
    }
    let ids = submit_all(&flowfabric).await;
    let mut begun = log.begun();
    let kills = number("FF_KILLS", 6).min(12);
    for kill in 1..=kills {
        // At another moment of a claim each time.
        let enough = kill * ids.len() / (kills + 3) + kill % 3;
        within("handlers begin", begun.wait_for(|begun| *begun >= enough)).await.unwrap();
        servers[kill % 2].kill_and_start_again().await;
    }
    refuses_while_it_cannot_ask(store, &servers[0].connect().await).await;

    let drain = async {
        for id in &ids {
            client.wait(id).await.unwrap().payload().unwrap();
        }
    };
    timeout(DRAINED, drain).await.expect("the work is drained");
    let mut corrected = 0;
    for server in &servers {
        corrected += corrections(&server.read("/metrics").await);
    }
    println!("{kills} kills, {} handlers, {corrected} corrections by the reconcilers", *begun.borrow());
    let mut started = Vec::new();
    for id in &ids {
        started.extend(client.attempts(id).await.unwrap().attempts.iter().map(|attempt| attempt.started_at));
    }
    for (stop, running) in workers {
        stop.send(()).ok();
        within("the worker stops", running).await.unwrap().unwrap();
    }
    log.keeps_to_the_slots();
    keeps_to_the_rate(started);
    let store = servers[0].store().to_owned();
    for server in servers {
        stop(server).await;
    }
    assert_eq!(doctor(&store).await, ids.len() as u64, "none is lost");
}

async fn submit_all(flowfabric: &FlowFabric) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for nth in 0..CUSTOMERS * JOBS_OF_A_CUSTOMER {
        let job = Job::new("job", &nth).tag("customer", &format!("c-{}", nth % CUSTOMERS));
        ids.push(flowfabric.client().submit(job).await.unwrap().execution_id);
    }
    ids
}

/// While the store does not answer, a claim is refused and says so; once it answers, claims go on by themselves.
async fn refuses_while_it_cannot_ask(store: &dyn Freeze, flowfabric: &FlowFabric) {
    store.freeze();
    let mut refused = None;
    for partition in 0..flowfabric.backend().partitions().num_flow_partitions {
        let holder = Holder::parse("probe", "probe-1").unwrap();
        let args = ClaimArgs { lease_ttl_ms: 1_000, ..ClaimArgs::new(partition, holder) };
        match within("the claim is answered", flowfabric.backend().claim(args)).await {
            // A server need not ask about a partition that it has locked and knows to have nothing.
            Ok(claims) => assert!(claims.claimed.is_empty(), "claimed without the store"),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    store.wake();
    let says_so = matches!(refused, Some(EngineError::Unavailable(_) | EngineError::Unknown(_)));
    assert!(says_so, "no claim was refused while the store did not answer: {refused:?}");
}

type Running = (oneshot::Sender<()>, tokio::task::JoinHandle<Result<(), ff_sdk::Error>>);

fn work(flowfabric: FlowFabric, name: &str, log: HandlerLog) -> Running {
    let (stop, stopped) = oneshot::channel();
    let worker = flowfabric.worker(name).lease_ttl(LEASE_TTL).concurrency(8).on("job", move |work: Context| {
        let log = log.clone();
        async move {
            let customer = work.task().tags.values().next().map(ToString::to_string).unwrap_or_default();
            let nth = log.begin(customer);
            let mut passes = interval(WORK);
            passes.tick().await;
            passes.tick().await;
            log.end(nth);
            Ok::<_, Fault>(nth)
        }
    });
    let running = tokio::spawn(worker.run_until(async move {
        stopped.await.ok();
    }));
    (stop, running)
}

/// When each handler began and ended, as the handlers themselves saw it.
#[derive(Clone)]
struct HandlerLog {
    runs: Arc<Mutex<Vec<Run>>>,
    begun: Arc<watch::Sender<usize>>,
}

struct Run {
    customer: String,
    began: Instant,
    ended: Option<Instant>,
}

impl Default for HandlerLog {
    fn default() -> Self {
        Self { runs: Arc::default(), begun: Arc::new(watch::channel(0).0) }
    }
}

impl HandlerLog {
    fn begun(&self) -> watch::Receiver<usize> {
        self.begun.subscribe()
    }

    fn begin(&self, customer: String) -> usize {
        let mut runs = self.runs.lock().unwrap();
        runs.push(Run { customer, began: Instant::now(), ended: None });
        self.begun.send_replace(runs.len());
        runs.len() - 1
    }

    fn end(&self, nth: usize) {
        self.runs.lock().unwrap()[nth].ended = Some(Instant::now());
    }

    /// At no moment do more handlers of a customer run than it has slots.
    fn keeps_to_the_slots(&self) {
        let mut moments = BTreeMap::<String, Vec<(Instant, i32)>>::new();
        for run in self.runs.lock().unwrap().iter() {
            let of_customer = moments.entry(run.customer.clone()).or_default();
            // One that ends at the very moment another begins has ended.
            of_customer.push((run.began, 1));
            of_customer.push((run.ended.expect("every handler has ended"), -1));
        }
        assert_eq!(moments.len(), CUSTOMERS);
        for (customer, mut moments) in moments {
            moments.sort_unstable();
            let mut running = 0;
            for (_, step) in moments {
                running += step;
                assert!(running <= SLOTS.cast_signed(), "I14: {running} of {customer} run at once");
            }
        }
    }
}

/// In no window were more claimed than the rate allows, by the store's clock.
fn keeps_to_the_rate(mut started: Vec<TimestampMs>) {
    started.sort_unstable();
    let limit = usize::try_from(RATE.limit).unwrap();
    for (first, beyond) in started.iter().zip(started.iter().skip(limit)) {
        let span = beyond.since(*first);
        assert!(span + LATE_MS >= RATE.window_ms, "I14: {} were claimed within {span} ms", limit + 1);
    }
}

/// How many slots a server has given back that were held for nothing.
fn corrections(metrics: &str) -> u64 {
    let value = metrics.lines().find_map(|line| line.strip_prefix("ff_quota_corrections_total "));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}
