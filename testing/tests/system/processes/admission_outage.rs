//! A store that is down while work waits for a quota. Claims are refused with the reason, and no more work is handed
//! out than the quota allows. Claims succeed again without intervention when the store is back.

use std::time::Duration;

use ff_core::contracts::{CompleteArgs, Filter, ListArgs, NextArgs, QuotaDefinition, SubmitArgs, Task};
use ff_core::engine_error::EngineError;
use ff_core::lease::Holder;
use ff_core::limits;
use ff_core::partition::{Partition, quota_partition};
use ff_core::payload::Payload;
use ff_core::quota::quota_policy_id;
use ff_core::state::PublicState;
use ff_core::types::{Kind, LaneId, Namespace, QuotaName, new_execution_uuid};
use ff_sdk::FlowFabric;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::ServerProcess;
use ff_testing::servers::{Cluster, Flavour, Process};
use tokio::time::timeout;

use super::stop_and_examine;

const QUOTA: &str = "two";
const AT_ONCE: usize = 2;
const WORK: usize = 5;

/// Reservations that exist when the store goes down are released within 30 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_are_refused_while_valkey_is_gone() {
    let mut valkey = Process::start(Flavour::Valkey, &[]);
    let server = ServerProcess::over(valkey.url()).await;
    let outage = Outage::begin(&server, |_| true).await;
    valkey.kill();
    outage.claims_are_refused().await;
    valkey.restart();
    outage.claims_succeed_within_the_quota().await;
    assert_eq!(stop_and_examine(vec![server]).await, WORK as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_are_refused_while_postgres_is_gone() {
    let mut postgres = Postgres::quick();
    let server = ServerProcess::over(postgres.url("flowfabric")).await;
    let outage = Outage::begin(&server, |_| true).await;
    postgres.kill();
    outage.claims_are_refused().await;
    postgres.restart();
    outage.claims_succeed_within_the_quota().await;
    assert_eq!(stop_and_examine(vec![server]).await, WORK as u64);
}

/// The partitions of the work are reachable. Only the usage of the quota cannot be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_are_refused_while_the_home_of_a_quota_is_gone() {
    let mut cluster = Cluster::start();
    let server = ServerProcess::over(cluster.url()).await;
    let partitions = server.connect().await.backend().partitions();
    let policy_id = quota_policy_id(&Namespace::default_name(), &QuotaName::parse(QUOTA).unwrap());
    let home = node_of(&cluster, &quota_partition(&policy_id, &partitions));
    let elsewhere = |work: &SubmitArgs| node_of(&cluster, &Partition::of(&work.execution_id(&partitions))) != home;
    let outage = Outage::begin(&server, elsewhere).await;
    cluster.nodes[home].kill();
    outage.claims_are_refused().await;
    cluster.nodes[home].restart();
    outage.claims_succeed_within_the_quota().await;
    assert_eq!(stop_and_examine(vec![server]).await, WORK as u64);
}

/// Returns the primary of a partition. The three primaries have equal, consecutive ranges of the slots.
fn node_of(cluster: &Cluster, partition: &Partition) -> usize {
    let slot = cluster.nodes[0].ask(&["CLUSTER", "KEYSLOT", &partition.hash_tag()]);
    let slot: usize = slot.trim_start_matches(':').parse().unwrap();
    slot * 3 / 16_384
}

/// An outage while one execution is leased, the quota allows one more, and the rest waits.
struct Outage {
    flowfabric: FlowFabric,
    first: Task,
}

impl Outage {
    async fn begin(server: &ServerProcess, is_wanted: impl Fn(&SubmitArgs) -> bool) -> Self {
        let flowfabric = server.connect().await;
        let definition = QuotaDefinition {
            scope: "lane:mail".parse().unwrap(),
            per: None,
            rate: None,
            max_concurrent: Some(u32::try_from(AT_ONCE).unwrap()),
        };
        flowfabric.client().quota(QUOTA).unwrap().put(definition).await.unwrap();
        let work = || SubmitArgs {
            uuid: new_execution_uuid(),
            lane: LaneId::parse("mail").unwrap(),
            ..SubmitArgs::new(Kind::parse("send").unwrap(), Payload::json("1"))
        };
        for work in std::iter::repeat_with(work).filter(is_wanted).take(WORK) {
            flowfabric.backend().submit(work).await.unwrap();
        }
        let mut first = claim(&flowfabric, 1, 10_000).await.unwrap();
        Self { flowfabric, first: first.pop().unwrap() }
    }

    async fn claims_are_refused(&self) {
        let refused = async {
            let mut refusals = 0;
            while refusals < 3 {
                match claim(&self.flowfabric, WORK, 500).await {
                    Ok(claimed) => assert_eq!(claimed.len(), 0, "a claim succeeds without the store"),
                    Err(error @ (EngineError::Unavailable(_) | EngineError::Unknown(_))) => {
                        println!("a claim is refused: {error}");
                        assert!(error.to_string().contains("store"), "{error}");
                        refusals += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        };
        assert!(timeout(PATIENCE, refused).await.is_ok(), "claims are not refused");
    }

    async fn claims_succeed_within_the_quota(self) {
        let mut held = vec![self.first.clone()];
        let mut ended = 0;
        while ended < WORK {
            while held.len() < AT_ONCE.min(WORK - ended) {
                held.extend(timeout(PATIENCE, self.claim_some()).await.expect("claims succeed when the store is back"));
                assert!(held.len() <= AT_ONCE, "{} are handed out", held.len());
            }
            let filter = Filter { state: Some(PublicState::Active), ..Filter::everything(Namespace::default_name()) };
            let active = ListArgs { filter, after: None, limit: limits::PAGE };
            let active = self.flowfabric.backend().list(active).await.unwrap().executions.len();
            assert_eq!(active, held.len(), "work is leased that no worker received");
            let Task { execution_id, fence, .. } = held.remove(0);
            let end = CompleteArgs { execution_id, fence, result: None };
            self.flowfabric.backend().complete(end).await.unwrap();
            ended += 1;
        }
    }

    /// Repeats a claim until it returns work.
    async fn claim_some(&self) -> Vec<Task> {
        loop {
            match claim(&self.flowfabric, WORK, 1_000).await {
                Ok(claimed) if !claimed.is_empty() => return claimed,
                Ok(_) | Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

async fn claim(flowfabric: &FlowFabric, max: usize, wait_ms: u64) -> Result<Vec<Task>, EngineError> {
    let holder = Holder::parse("worker", "worker-1").unwrap();
    let next = NextArgs {
        max,
        wait_ms,
        lanes: vec![LaneId::parse("mail").unwrap()],
        lease_ttl_ms: 600_000,
        ..NextArgs::new(holder)
    };
    Ok(flowfabric.long_poll().next(next).await?.into_iter().map(|claimed| claimed.task).collect())
}
