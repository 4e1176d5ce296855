//! The number of commands that functions call, which are most of a server's work.

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{ConfigureLaneArgs, PutQuotaArgs, QuotaDefinition, Setting, Start, SubmitArgs};
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::policy::{Policy, RetryPolicy};
use ff_core::quota::{Per, Rate, Scope};
use ff_core::types::{LaneId, Namespace, Priority, QuotaName, TagKey, TagValue};
use ff_engine::Orchestration;
use futures_util::future::join_all;

use crate::coalescing::end;
use crate::support::{Flavour, Process};
use crate::{claim_on, findings, work};

/// Counts the commands within functions for each typical lifecycle, when a worker claims the maximum at once.
#[tokio::test]
async fn a_typical_lifecycle_is_at_most_fourteen_inner_calls() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = with_one_partition(&server).await;
    run_typical_lifecycles(&store).await;
    let before = inner_calls(&server, "");
    run_typical_lifecycles(&store).await;
    let each = (inner_calls(&server, "") - before) as f64 / limits::CLAIM_AT_ONCE as f64;
    assert!(each <= 14.0, "{each} inner calls");
    assert_eq!(findings(&store).await, []);
}

/// Plain work pays nothing for the quotas, the limited lanes and the fair lanes of others.
#[tokio::test]
async fn admission_of_others_costs_plain_work_no_inner_call() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = with_one_partition(&server).await;
    // The numbers vary by a few calls, because index entries come and go with time.
    let cost = async || {
        let mut costs = Vec::new();
        for _ in 0..5 {
            let before = inner_calls(&server, "");
            run_typical_lifecycles(&store).await;
            costs.push(inner_calls(&server, "") - before);
        }
        costs.into_iter().min().unwrap()
    };
    let without = cost().await;
    let namespace = Namespace::parse("others").unwrap();
    let definition = QuotaDefinition {
        scope: Scope::Namespace,
        per: Some(Per::Kind),
        rate: Some(Rate { limit: 1, window_ms: 60_000 }),
        max_concurrent: Some(1),
    };
    let name = QuotaName::parse("one").unwrap();
    let put = PutQuotaArgs { namespace: namespace.clone(), name, definition: Some(definition) };
    assert_eq!(store.put_quota(put).await.unwrap().policies.len(), 1);
    let lane = ConfigureLaneArgs {
        concurrency: Setting::To(1),
        fair_by: Setting::To(Per::Namespace),
        ..ConfigureLaneArgs::new(namespace, LaneId::default_name())
    };
    store.configure_lane(lane).await.unwrap();
    assert_eq!(cost().await, without);
}

/// A pump reads only the indexes that may have something due.
#[tokio::test]
async fn a_promotion_takes_at_most_four_reads_of_indexes() {
    const PROMOTIONS: usize = 20;
    let server = Process::start(Flavour::Valkey, &[]);
    let store = with_one_partition(&server).await;
    let holding = store.submit(work()).await.unwrap().execution_id;
    assert_eq!(store.claim(claim_on(0, 1)).await.unwrap().claimed[0].task.execution_id, holding);
    store.pump(0).await.unwrap();
    let before = inner_calls(&server, "zrange");
    for _ in 0..PROMOTIONS {
        store.submit(SubmitArgs { start: Start::After(2), ..work() }).await.unwrap();
        let due = store.now().await.unwrap() + 2;
        while store.now().await.unwrap() < due {}
        assert_eq!(store.pump(0).await.unwrap().fired, 1);
    }
    let each = (inner_calls(&server, "zrange") - before) as f64 / PROMOTIONS as f64;
    assert!(each <= 4.0, "{each} reads");
    assert_eq!(findings(&store).await, []);
}

const ONE_PARTITION: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// Submits, claims and completes the maximum number at once: with a binary payload, two tags, a priority, a retry
/// policy and a result.
async fn run_typical_lifecycles(store: &ValkeyBackend) {
    let works = (0..limits::CLAIM_AT_ONCE).map(|nth| {
        let tags = [("customer", format!("customer-{nth}")), ("env", "production".to_owned())];
        let tags = tags.map(|(key, value)| (TagKey::parse(key).unwrap(), TagValue::parse(&value).unwrap()));
        let retry_policy = RetryPolicy { max_retries: 5, ..RetryPolicy::default() };
        SubmitArgs {
            payload: Payload::bytes(vec![0xff; 100]),
            tags: tags.into_iter().collect(),
            priority: Priority::new(5).unwrap(),
            policy: Policy { retry_policy, ..Policy::default() },
            ..work()
        }
    });
    for submitted in join_all(works.map(|work| store.submit(work))).await {
        submitted.unwrap();
    }
    let claims = store.claim(claim_on(0, limits::CLAIM_AT_ONCE)).await.unwrap().claimed;
    assert_eq!(claims.len(), limits::CLAIM_AT_ONCE);
    for completed in join_all(claims.iter().map(|claimed| store.complete(end(&claimed.task)))).await {
        completed.unwrap();
    }
}

async fn with_one_partition(server: &Process) -> ValkeyBackend {
    let options = ValkeyOptions { partitions: Some(ONE_PARTITION), ..ValkeyOptions::default() };
    ValkeyBackend::connect(&server.url(), options).await.unwrap()
}

/// Returns the number of commands with this name prefix that functions have called on a server.
fn inner_calls(server: &Process, name: &str) -> usize {
    let stats = server.ask(&["INFO", "commandstats"]);
    let of_functions = stats.lines().filter(|line| line.starts_with(&format!("cmdstat_{name}")));
    let of_functions =
        of_functions.filter(|line| !line.starts_with("cmdstat_fcall:") && !line.starts_with("cmdstat_info:"));
    let calls = of_functions.map(|line| line.split_once("calls=").unwrap().1.split(',').next().unwrap());
    calls.map(|calls| calls.parse::<usize>().unwrap()).sum()
}
