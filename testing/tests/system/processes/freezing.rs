//! Servers and stores that are frozen for some seconds, like a paused virtual machine or a throttled container, and
//! then woken.

use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::contracts::{CompleteArgs, NextArgs, SubmitArgs, Task};
use ff_core::engine_error::EngineError;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::types::Kind;
use ff_sdk::FlowFabric;
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{ServerProcess, Signal, WorkerProcess};
use ff_testing::servers::{Flavour, Process};
use tokio::time::{Instant, interval, timeout};

use super::{LEASE_TTL, stop_and_examine};

/// Longer than any part of the system waits for an answer before it doubts the connection.
const FROZEN: Duration = Duration::from_millis(4_500);

/// Time limit for every server to serve again after it is woken.
const SOON: Duration = Duration::from_secs(2);

/// A process that can be frozen and woken.
trait Freeze {
    fn freeze(&self);
    fn wake(&self);
}

impl Freeze for ServerProcess {
    fn freeze(&self) {
        self.send(Signal::STOP);
    }

    fn wake(&self) {
        self.send(Signal::CONT);
    }
}

impl Freeze for Process {
    fn freeze(&self) {
        Process::freeze(self);
    }

    fn wake(&self) {
        self.thaw();
    }
}

impl Freeze for Postgres {
    fn freeze(&self) {
        Postgres::freeze(self);
    }

    fn wake(&self) {
        self.thaw();
    }
}

/// `FF_FREEZES` sets how often each process is frozen. The stores are tested concurrently, because they are almost idle
/// while they are frozen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_serves_soon_after_a_freeze() {
    let (valkey, postgres) = (Process::start(Flavour::Valkey, &[]), Postgres::quick());
    let on_valkey = async || ServerProcess::over(valkey.url()).await;
    let on_postgres = async || ServerProcess::over(postgres.url("flowfabric")).await;
    tokio::join!(
        freeze_again_and_again(vec![ServerProcess::start().await], None),
        freeze_again_and_again(vec![on_valkey().await, on_valkey().await], Some(&valkey)),
        freeze_again_and_again(vec![on_postgres().await, on_postgres().await], Some(&postgres)),
    );
}

async fn freeze_again_and_again(servers: Vec<ServerProcess>, store: Option<&dyn Freeze>) {
    let mut workers = Vec::new();
    let mut connections = Vec::new();
    for (nth, server) in servers.iter().enumerate() {
        workers.push(WorkerProcess::start(server.url(), &format!("worker-{nth}"), LEASE_TTL, 4));
        connections.push(server.connect().await);
    }
    let traffic: Vec<_> = connections.iter().map(|ff| tokio::spawn(submit_again_and_again(ff.clone()))).collect();
    everybody_serves(&connections, "before anything is frozen").await;
    for nth in 0..number("FF_FREEZES", 1) {
        frozen(&servers[0]).await;
        everybody_serves(&connections, &format!("after server freeze {nth} over {}", servers[0].store())).await;
        if let Some(store) = store {
            store.freeze();
            pass(FROZEN).await;
            for server in &servers {
                assert_eq!(server.get("/healthz").await, 200, "the process lives");
                assert_eq!(server.get("/readyz").await, 503, "the store does not answer");
            }
            store.wake();
            everybody_serves(&connections, &format!("after store freeze {nth} of {}", servers[0].store())).await;
            for server in &servers {
                assert!(
                    timeout(SOON, ready(server)).await.is_ok(),
                    "the server does not notice that its store is back"
                );
            }
        }
    }
    traffic.iter().for_each(tokio::task::JoinHandle::abort);
    drop(workers);
    stop_and_examine(servers).await;
}

async fn ready(server: &ServerProcess) {
    while server.get("/readyz").await != 200 {}
}

async fn frozen(server: &ServerProcess) {
    server.freeze();
    pass(FROZEN).await;
    server.wake();
}

#[allow(clippy::disallowed_methods, reason = "how long something is frozen is what is tested")]
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Submits, claims and completes work through each of the connections.
async fn everybody_serves(connections: &[FlowFabric], when: &str) {
    let began = Instant::now();
    for (nth, ff) in connections.iter().enumerate() {
        let left = SOON.saturating_sub(began.elapsed());
        let served = timeout(left, serve_once(ff, &format!("probe-{nth}"))).await;
        assert!(served.is_ok(), "server {nth} does not serve within {SOON:?} {when}");
    }
}

/// Tries until work of this kind is completed. A claim whose answer was lost has leased the work that it found, so
/// every round submits new work.
async fn serve_once(ff: &FlowFabric, kind: &str) {
    let mut again = interval(Duration::from_millis(20));
    loop {
        again.tick().await;
        match serve(ff, Kind::parse(kind).unwrap()).await {
            Ok(true) => return,
            Ok(false) | Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => {}
            Err(error) => panic!("refused: {error}"),
        }
    }
}

async fn serve(ff: &FlowFabric, kind: Kind) -> Answer<bool> {
    ff.backend().submit(SubmitArgs::new(kind.clone(), Payload::json("1".to_owned()))).await?;
    let next =
        NextArgs { kinds: vec![kind], wait_ms: 500, ..NextArgs::new(Holder::parse("probe", "probe-1").unwrap()) };
    let claimed = ff.long_poll().next(next).await?;
    let Some(claimed) = claimed.first() else { return Ok(false) };
    let Task { execution_id, fence, .. } = claimed.task.clone();
    ff.backend().complete(CompleteArgs { execution_id, fence, result: Some(Payload::json("2".to_owned())) }).await?;
    Ok(true)
}

/// Keeps connections, pumps and workers busy.
async fn submit_again_and_again(ff: FlowFabric) {
    let mut again = interval(Duration::from_millis(5));
    loop {
        again.tick().await;
        let args = SubmitArgs::new(Kind::parse("hurry").unwrap(), Payload::json("1".to_owned()));
        // Other tests check whether the submission arrives.
        drop(ff.backend().submit(args).await);
    }
}
