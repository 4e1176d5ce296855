//! A primary of a cluster that stops: the partitions of other primaries are not affected, and its own are served again
//! as soon as a replica takes its place.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::hint::Hint;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ListLanesArgs, ListWorkersArgs, RegisterWorkerArgs, SubmitArgs};
use ff_core::types::{LaneId, WorkerId, WorkerInstanceId};
use futures_util::{FutureExt, StreamExt};
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::cluster::partitions;
use crate::support::{Cluster, Flavour, Process};
use crate::{connect, insist, work};

/// Maximum time of a call to a running primary while another one is away. The promise is half of it.
const OTHERS: Duration = Duration::from_secs(1);

/// Maximum time after a promotion until the new primary serves its partitions. The promise is half of it.
const PROMOTED: Duration = Duration::from_secs(2);

/// Maximum time after a server woke up until everything is served.
const AWAKE: Duration = Duration::from_secs(2);

/// Number of listed workers: more than are read at once.
const WORKERS: usize = 100;

/// Interval between the calls of each caller.
const OFTEN: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_primary_was_killed_the_others_go_on_and_its_replica_takes_over() {
    fails_over(|primary| primary.kill()).await;
}

/// A primary that hangs closes no connection, so its callers get no sign of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_primary_hung_the_others_go_on_and_its_replica_takes_over() {
    fails_over(|primary| primary.freeze()).await;
}

async fn fails_over(stop: impl FnOnce(&mut Process)) {
    let mut cluster = block_in_place(|| Cluster::with_replicas(1));
    // Hints are received from the node with the smallest address.
    let nth = (0..3).min_by_key(|nth| cluster.nodes[*nth].port).unwrap();
    let (own, others) = partitions(&cluster.nodes[nth]);
    assert!(!own.is_empty() && !others.is_empty(), "the partitions are spread");
    let (victim, living) = (cluster.nodes[nth].port, (nth + 1) % 3);
    // Each server of a deployment has its own store.
    let stores = [Arc::new(connect(&cluster.url()).await), Arc::new(connect(&cluster.url()).await)];
    let calls = Calls::default();
    let mut callers = JoinSet::new();
    for store in &stores {
        for partition in 0..store.partitions().num_flow_partitions {
            insist(|| store.submit(work_on(store, partition))).await;
            callers.spawn(calls.clone().keep_calling(store.clone(), partition));
        }
    }
    let stopped = Instant::now();
    block_in_place(|| stop(&mut cluster.nodes[nth]));
    hears_of(&stores[0], others[0]).await;
    let moved = |nodes: &str| {
        let has_slots = |line: &&str| line.contains("master") && line.rsplit(' ').next().is_some_and(is_slots);
        nodes.lines().filter(has_slots).all(|line| !line.contains(&format!(":{victim}@")))
    };
    block_in_place(|| cluster.nodes[living].wait_until(&["CLUSTER", "NODES"], moved));
    let promoted = Instant::now();
    for (store, partition) in stores.iter().flat_map(|store| own.iter().map(move |partition| (store, *partition))) {
        let serves = insist(|| store.submit(work_on(store, partition)));
        timeout(PROMOTED, serves).await.expect("the new primary serves");
    }
    println!("promoted after {:?}, served after {:?}", promoted - stopped, promoted.elapsed());
    callers.shutdown().await;

    let calls = calls.0.lock().unwrap();
    let during = calls.iter().filter(|call| call.begun >= stopped && others.contains(&call.partition));
    let slow: Vec<_> = during.clone().filter(|call| !call.answered || call.took > OTHERS).collect();
    assert!(during.count() > 100, "the others were asked");
    assert!(slow.is_empty(), "of partitions whose primary was there: {slow:#?}");
}

/// Returns whether the last word of a line names slots.
fn is_slots(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

/// Waits until the store hears of work that becomes ready in a new lane.
async fn hears_of(store: &ValkeyBackend, partition: u16) {
    let mut hints = store.hints();
    let mut ticks = interval(OFTEN);
    let hears = async {
        for nth in 0.. {
            ticks.tick().await;
            let lane = LaneId::parse(&format!("lane-{nth}")).unwrap();
            store.submit(SubmitArgs { lane, ..work_on(store, partition) }).await.unwrap();
            while let Some(hint) = hints.next().now_or_never() {
                if matches!(hint, Some(Hint::Ready { partition: ready, .. }) if ready == partition) {
                    return;
                }
            }
        }
    };
    timeout(OTHERS, hears).await.expect("hints of the other partitions are heard");
}

/// No caller gives up on a primary whose pause is shorter than a failover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_paused_serves_again_at_once() {
    let cluster = block_in_place(Cluster::start);
    paused_for(&cluster.url(), &cluster.nodes[0], Duration::from_millis(840)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_paused_serves_again_at_once() {
    let server = Process::start(Flavour::Valkey, &[]);
    paused_for(&server.url(), &server, Duration::from_millis(3_500)).await;
}

async fn paused_for(url: &str, server: &Process, pause: Duration) {
    let store = Arc::new(connect(url).await);
    let calls = Calls::default();
    let mut callers = JoinSet::new();
    for partition in 0..store.partitions().num_flow_partitions {
        insist(|| store.submit(work_on(&store, partition))).await;
        callers.spawn(calls.clone().keep_calling(store.clone(), partition));
    }
    // Add calls that ask for much at once, like long lists.
    for nth in 0..WORKERS {
        insist(|| store.register_worker(worker(nth))).await;
    }
    let workers = ListWorkersArgs { namespace: None, after: None, limit: 100 };
    let lanes = ListLanesArgs { namespace: None, after: None, limit: 100, finished: true };
    for _ in 0..8 {
        let (store, workers, lanes) = (store.clone(), workers.clone(), lanes.clone());
        callers.spawn(async move {
            loop {
                insist(|| store.list_workers(workers.clone())).await;
                insist(|| store.list_lanes(lanes.clone())).await;
            }
        });
    }
    server.freeze();
    let mut ticks = interval(pause);
    ticks.tick().await;
    ticks.tick().await;
    server.thaw();
    let awake = Instant::now();
    for partition in 0..store.partitions().num_flow_partitions {
        let serves = insist(|| store.submit(work_on(&store, partition)));
        timeout(AWAKE, serves).await.expect("every partition serves again");
    }
    assert!(awake.elapsed() < AWAKE, "it took {:?}", awake.elapsed());
    callers.shutdown().await;
}

fn worker(nth: usize) -> RegisterWorkerArgs {
    RegisterWorkerArgs {
        ttl_ms: 60_000,
        ..RegisterWorkerArgs::new(WorkerInstanceId::parse(&format!("w-{nth}")).unwrap(), WorkerId::parse("w").unwrap())
    }
}

fn work_on(store: &ValkeyBackend, partition: u16) -> SubmitArgs {
    let mut made = std::iter::repeat_with(work);
    made.find(|args| args.execution_id(&store.partitions()).partition() == partition).unwrap()
}

/// The calls that were made, and their results.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Call>>>);

#[derive(Debug)]
struct Call {
    partition: u16,
    begun: Instant,
    took: Duration,
    answered: bool,
}

impl Calls {
    async fn keep_calling(self, store: Arc<ValkeyBackend>, partition: u16) {
        let mut ticks = interval(OFTEN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let begun = Instant::now();
            let answered = store.submit(work_on(&store, partition)).await.is_ok();
            self.0.lock().unwrap().push(Call { partition, begun, took: begun.elapsed(), answered });
        }
    }
}
