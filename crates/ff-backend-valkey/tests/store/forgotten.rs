//! Retention leaves nothing behind: no key of a forgotten execution or flow is left.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    CancelArgs, CompleteArgs, CreateWaitpointArgs, DeliverArgs, EdgeSpec, FailArgs, FlowHeader, NodeSpec, SetTagsArgs,
    SubmitArgs, SubmitFlowArgs, SuspendArgs,
};
use ff_core::execution::Failure;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::{IdempotencyKey, Kind, Namespace, NodeName, TagKey, TagValue, TimestampMs};
use ff_engine::Orchestration;

use crate::look::held;
use crate::support::{Flavour, Process};
use crate::suspension::{key, signal};
use crate::{claim, claim_on, findings, options, work};

fn label(value: &str) -> (TagKey, TagValue) {
    (TagKey::parse("team").unwrap(), TagValue::parse(value).unwrap())
}

/// Fires everything that is due.
async fn drain(store: &ValkeyBackend) {
    for partition in 0..store.partitions().num_flow_partitions {
        while store.pump(partition).await.unwrap().fired > 0 {}
    }
}

/// Returns the keys of executions and flows and of their indexes, without the keys that every partition has.
async fn keys(server: &Process) -> BTreeSet<String> {
    let all = held(&format!("127.0.0.1:{}", server.port)).await.keys.into_keys();
    all.filter(|key| key.contains('{') && !key.ends_with(":now") && !key.ends_with(":clock")).collect()
}

#[tokio::test]
async fn nothing_is_left_of_what_was_kept_for_long_enough() {
    for flavour in [Flavour::Valkey, Flavour::Redis] {
        let server = Process::start(flavour, &["--appendonly", "no"]);
        let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
        let options = ValkeyOptions { clock: Some(clock.clone()), ..options() };
        let store = ValkeyBackend::connect(&server.url(), options).await.unwrap();
        let before = keys(&server).await;
        live_through_a_lot(&store, &clock).await;
        assert!(keys(&server).await.len() > before.len() + 30);
        assert_eq!(findings(&store).await, []);
        clock.advance(limits::RETENTION_MS);
        drain(&store).await;
        assert_eq!(findings(&store).await, []);
        let left: Vec<_> = keys(&server).await.difference(&before).cloned().collect();
        // Sweeps remove queues from the list of lanes, and feeds keep their entries.
        let lists = |key: &&String| !key.ends_with(":lanes") && !key.ends_with(":signal_delivery");
        assert_eq!(left.iter().filter(lists).collect::<Vec<_>>(), Vec::<&String>::new(), "{flavour:?}");
    }
}

/// Creates executions and a flow with every kind of record, all of them ended.
async fn live_through_a_lot(store: &ValkeyBackend, clock: &ManualClock) {
    let mut eventful = SubmitArgs { tags: [label("blue")].into(), namespace: acme(), ..work() };
    eventful.idempotency_key = Some(IdempotencyKey::parse("order 7").unwrap());
    eventful.policy.timeout_policy.execution_deadline_ms = Some(600_000);
    eventful.policy.timeout_policy.attempt_timeout_ms = Some(60_000);
    let id = store.submit(eventful).await.unwrap().execution_id;
    let tags = SetTagsArgs { execution_id: id, set: [label("green")].into(), remove: [].into() };
    store.set_tags(tags).await.unwrap();
    let mut theirs = claim_on(id.partition(), 1);
    theirs.namespace = acme();
    let held = store.claim(theirs.clone()).await.unwrap().claimed.remove(0);
    let waitpoint =
        CreateWaitpointArgs { execution_id: id, fence: held.task.fence, key: key("paid"), expires_in_ms: 5_000 };
    store.create_waitpoint(waitpoint).await.unwrap();
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: false };
    store.fail(FailArgs { execution_id: id, fence: held.task.fence, failure }).await.unwrap();
    clock.advance(60_000);
    drain(store).await;
    let held = store.claim(theirs.clone()).await.unwrap().claimed.remove(0);
    let once = Some(IdempotencyKey::parse("once").unwrap());
    let suspend = SuspendArgs::new(id, held.task.fence, key("approved"));
    let suspend = SuspendArgs { idempotency_key: once.clone(), ..suspend };
    let granted = store.suspend(suspend).await.unwrap().waitpoints.remove(0);
    store.deliver(DeliverArgs { idempotency_key: once, ..signal(id, &granted) }).await.unwrap();
    let held = store.claim(theirs).await.unwrap().claimed.remove(0);
    let result = Some(Payload::json("[1]"));
    store.complete(CompleteArgs { execution_id: id, fence: held.task.fence, result }).await.unwrap();

    let plain = store.submit(work()).await.unwrap().execution_id;
    let held = claim(store, &plain).await;
    store.complete(CompleteArgs { execution_id: plain, fence: held.task.fence, result: None }).await.unwrap();
    let stopped = store.submit(SubmitArgs { tags: [label("blue")].into(), ..work() }).await.unwrap().execution_id;
    store.cancel(CancelArgs { execution_id: stopped, reason: None, requested_by: None }).await.unwrap();

    let flow = chain();
    let partition = ff_core::partition::flow_partition(&flow.header.flow_id, &store.partitions()).index;
    store.submit_flow(flow).await.unwrap();
    for _ in 0..2 {
        for held in store.claim(claim_on(partition, 1)).await.unwrap().claimed {
            let result = Some(Payload::json("2"));
            let done = CompleteArgs { execution_id: held.task.execution_id, fence: held.task.fence, result };
            store.complete(done).await.unwrap();
        }
    }
}

fn acme() -> Namespace {
    Namespace::parse("acme").unwrap()
}

fn chain() -> SubmitFlowArgs {
    let node = |name: &str| NodeName::parse(name).unwrap();
    let spec = |name: &str| NodeSpec {
        tags: [label("flow")].into(),
        ..NodeSpec::new(node(name), Kind::parse("resize").unwrap(), Payload::json("1"))
    };
    SubmitFlowArgs {
        header: FlowHeader::new(Kind::parse("etl").unwrap()),
        nodes: vec![spec("a"), spec("b")],
        edges: vec![EdgeSpec { upstream: node("a"), downstream: node("b"), passes: None }],
    }
}
