//! Many concurrent clients with conflicting calls on one store. Their answers are consistent with each other and with
//! the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_backend_memory::MemoryBackend;
use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_backend_sqlite::{Durability, SqliteOptions};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::backend::{EngineBackend, EngineStore};
use ff_core::doctor;
use ff_core::partition::PartitionConfig;
use ff_core::signal::Effect;
use ff_core::types::TimestampMs;
use ff_engine::Coordinator;
use ff_testing::concurrency::{
    Client, ClientContext, FlowLoad, LedgerAction, check, check_flow, jobs, keep_time, work_through,
};
use ff_testing::postgres_server::Postgres;

const CLIENTS: u64 = 16;
const CALLS: usize = 1_500;
const JOBS: u64 = 24;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_at_once_see_one_order_of_events_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let store = Arc::new(ff_backend_sqlite::open(&folder.path().join("crowd.db"), options(&clock)).unwrap());
    load(std::slice::from_ref(&store), clock).await;
    store.close().await;
}

/// Half of the clients use one program, half another. The programs have separate writers and share the partitions.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_of_two_programs_at_once_see_one_order_of_events_in_a_database() {
    let server = Postgres::quick();
    let clock = clock();
    let url = server.url("crowd");
    let (one, two) = (Arc::new(connect(&url, &clock).await), Arc::new(connect(&url, &clock).await));
    load(&[one.clone(), two.clone()], clock).await;
    one.close().await;
    two.close().await;
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)))
}

/// Runs clients, distributed over these connections to one store, and checks their answers.
async fn load<S: EngineStore + 'static>(ways: &[Arc<S>], clock: Arc<ManualClock>) {
    let store = ways[0].clone();
    let ways = ways.iter().map(|way| Arc::new(Coordinator::over(way.clone())) as Arc<dyn EngineBackend>).collect();
    let shared = Arc::new(ClientContext::new(ways, jobs(JOBS)));
    let stop = Arc::new(AtomicBool::new(false));
    let time = tokio::spawn(keep_time(store.clone(), clock, stop.clone()));

    let clients: Vec<_> = (1..=CLIENTS).map(|nth| tokio::spawn(Client::new(shared.clone(), nth).ask(CALLS))).collect();
    for client in clients {
        client.await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    let fired = time.await.unwrap();

    check(&*store, &shared.ledger).await;
    let histories = shared.ledger.by_execution();
    let number_of =
        |what: fn(&LedgerAction) -> bool| histories.values().flatten().filter(|entry| what(&entry.what)).count();
    for (what, count, least) in [
        ("fired", fired, 50),
        ("stale fences", shared.ledger.refused("stale_lease"), 500),
        ("leases expired", shared.ledger.refused("lease_expired"), 10),
        ("claims", number_of(|what| matches!(what, LedgerAction::Claimed(_))), 300),
        ("completions", number_of(|what| matches!(what, LedgerAction::Completed(..))), 50),
        ("replays", number_of(|what| *what == LedgerAction::Replayed), 50),
        ("revocations", number_of(|what| matches!(what, LedgerAction::Revoked { already: false, .. })), 10),
        ("cancellations", number_of(|what| *what == LedgerAction::Cancelled { already: false }), 30),
        ("suspensions", number_of(|what| matches!(what, LedgerAction::Suspended(..))), 100),
        ("suspensions ended by a signal", number_of(|what| effect(what) == Some(Effect::Satisfied)), 30),
        ("signals sent again", number_of(|what| effect(what) == Some(Effect::Duplicate)), 30),
        ("signals that came too late", shared.ledger.refused("waitpoint_closed"), 100),
        ("decisions", number_of(|what| matches!(what, LedgerAction::Decided(reply) if !reply.already)), 10),
    ] {
        println!("{count:>8}  {what}");
        assert!(count >= least, "too few {what}: {count}, at least {least}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_on_many_flows_keep_every_join_in_memory() {
    let clock = clock();
    let store = MemoryBackend::new(partitions(), clock.clone(), Arc::new(SystemEntropy));
    flows_fit_their_graphs(Arc::new(store), clock).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_on_many_flows_keep_every_join_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let store = Arc::new(ff_backend_sqlite::open(&folder.path().join("flows.db"), options(&clock)).unwrap());
    flows_fit_their_graphs(store.clone(), clock).await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_on_many_flows_keep_every_join_in_a_database() {
    let server = Postgres::quick();
    let clock = clock();
    let store = Arc::new(connect(&server.url("flows"), &clock).await);
    flows_fit_their_graphs(store.clone(), clock).await;
    store.close().await;
}

async fn flows_fit_their_graphs(store: Arc<dyn EngineStore>, clock: Arc<ManualClock>) {
    let stop = Arc::new(AtomicBool::new(false));
    let time = tokio::spawn(keep_time(store.clone(), clock, stop.clone()));
    let graphs = work_through(store.clone(), FlowLoad { submitters: 4, flows_each: 40, workers: 6 }).await;
    stop.store(true, Ordering::SeqCst);
    time.await.unwrap();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for graph in &graphs {
        check_flow(&*store, graph).await;
        let info = store.describe_flow(&graph.header.flow_id).await.unwrap();
        *ends.entry(info.state.as_str()).or_default() += 1;
    }
    println!("{ends:?}");
    assert!(["completed", "failed", "cancelled"].iter().all(|state| ends.get(state) >= Some(&10)), "{ends:?}");
    let now = store.now().await.unwrap();
    for partition in 0..store.partitions().num_flow_partitions {
        let snapshot = store.snapshot(partition).await.unwrap();
        assert_eq!(doctor::examine(&snapshot, partition, now), []);
    }
}

fn partitions() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 3, ..PartitionConfig::default() }
}

async fn connect(url: &str, clock: &Arc<ManualClock>) -> PostgresBackend {
    let options =
        PostgresOptions { partitions: Some(partitions()), clock: Some(clock.clone()), ..PostgresOptions::default() };
    ff_backend_postgres::connect(url, options).await.unwrap()
}

fn options(clock: &Arc<ManualClock>) -> SqliteOptions {
    SqliteOptions {
        partitions: Some(partitions()),
        clock: clock.clone(),
        durability: Durability::Normal,
        ..SqliteOptions::default()
    }
}

/// Returns the effect of a signal, if the action is a signal.
fn effect(what: &LedgerAction) -> Option<Effect> {
    match what {
        LedgerAction::Signalled(_, _, reply) => Some(reply.effect),
        _ => None,
    }
}
