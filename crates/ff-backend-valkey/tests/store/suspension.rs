//! Suspensions in cases that the memory store cannot show: secrets that outlive programs, other programs, clusters, and
//! servers that have lost data.

use std::collections::BTreeSet;

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::hint::Hint;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    ClaimedExecution, DeliverArgs, DeliveriesArgs, GrantedWaitpoint, RotateSecretArgs, RotatedSecret, SubmitArgs,
    SuspendArgs, WaitpointBinding, WaitpointRef,
};
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::signal::Effect;
use ff_core::suspension::Condition;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, SignalName, WaitpointKey};
use ff_engine::Orchestration;
use futures_util::StreamExt;
use uuid::Uuid;

use crate::support::{Cluster, Flavour, Process};
use crate::{FEW_PARTITIONS, PATIENCE, claim, connect, findings, work};

pub(super) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

pub(super) fn signal(id: ExecutionId, granted: &GrantedWaitpoint) -> DeliverArgs {
    let token = PresentedToken::from(&granted.waitpoint_token);
    let to = WaitpointRef::Id(granted.waitpoint_id);
    let payload = Some(Payload::json("\"yes\""));
    DeliverArgs { payload, ..DeliverArgs::new(id, to, token, SignalName::parse("go").unwrap()) }
}

/// Submits, claims and suspends an execution.
async fn suspended(store: &ValkeyBackend) -> (ExecutionId, GrantedWaitpoint) {
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = loop {
        // Executions that were resumed before may wait here too.
        let task = claim(store, &id).await.task;
        if task.execution_id == id {
            break task.fence;
        }
    };
    let granted = store.suspend(SuspendArgs::new(id, fence, key("approval"))).await.unwrap().waitpoints.remove(0);
    (id, granted)
}

/// Returns the secrets of every partition, as the server has them.
fn secrets(server: &Process) -> Vec<String> {
    let fields = |partition| {
        let all = server.ask(&["HGETALL", &format!("ff:sec:{{fp:{partition}}}:waitpoint_hmac")]);
        all.lines().map(str::trim).filter(|line| !line.starts_with(['*', '$'])).collect::<Vec<_>>().join(" ")
    };
    (0..FEW_PARTITIONS.num_flow_partitions).map(fields).collect()
}

#[tokio::test]
async fn programs_that_start_together_agree_on_one_first_secret_and_keep_it() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    let url = server.url();
    let (one, two) = tokio::join!(connect(&url), connect(&url));
    let first = secrets(&server);
    assert!(first[0].contains("current_kid k1"));
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 1, "all partitions have the same");
    let (id, granted) = suspended(&one).await;
    drop((one, two));
    server.restart();
    let later = connect(&url).await;
    assert_eq!(secrets(&server), first);
    assert_eq!(later.deliver(signal(id, &granted)).await.unwrap().effect, Effect::Satisfied);
}

#[tokio::test]
async fn a_partition_without_secrets_is_given_those_of_the_others() {
    let server = Process::start(Flavour::Valkey, &[]);
    drop(connect(&server.url()).await);
    let first = secrets(&server);
    for partition in [0, 3] {
        server.ask(&["DEL", &format!("ff:sec:{{fp:{partition}}}:waitpoint_hmac")]);
    }
    connect(&server.url()).await;
    assert_eq!(secrets(&server), first);
}

#[tokio::test]
async fn a_server_that_lost_everything_is_given_secrets_again_and_every_program_notices() {
    let server = Process::start(Flavour::Valkey, &[]);
    let stores = [connect(&server.url()).await, connect(&server.url()).await];
    for store in &stores {
        // This is often enough to read the secrets of most partitions.
        for _ in 0..4 * FEW_PARTITIONS.num_flow_partitions {
            suspended(store).await;
        }
    }
    server.ask(&["FLUSHALL"]);
    for store in &stores {
        for _ in 0..2 * FEW_PARTITIONS.num_flow_partitions {
            let (id, granted) = suspended(store).await;
            assert_eq!(store.deliver(signal(id, &granted)).await.unwrap().effect, Effect::Satisfied);
        }
    }
    assert_eq!(secrets(&server).into_iter().collect::<BTreeSet<_>>().len(), 1);
}

#[tokio::test]
async fn a_rotation_by_another_program_is_noticed_and_old_tokens_work_within_their_grace() {
    let server = Process::start(Flavour::Valkey, &[]);
    let (here, there) = (connect(&server.url()).await, connect(&server.url()).await);
    let (old, under_the_first) = suspended(&here).await;
    let rotation = RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 600_000).unwrap();
    let report = there.rotate_secret(rotation.clone()).await.unwrap();
    assert_eq!(report.rotated.len(), usize::from(FEW_PARTITIONS.num_flow_partitions));
    assert!(report.is_complete());
    for _ in 0..FEW_PARTITIONS.num_flow_partitions {
        let (id, granted) = suspended(&here).await;
        assert_eq!(granted.waitpoint_token.kid.as_str(), "k2");
        assert_eq!(there.deliver(signal(id, &granted)).await.unwrap().effect, Effect::Satisfied);
    }
    assert_eq!(there.deliver(signal(old, &under_the_first)).await.unwrap().effect, Effect::Satisfied);
    let again = here.rotate_secret(rotation).await.unwrap();
    assert!(again.rotated.iter().all(|(_, rotated)| matches!(rotated, RotatedSecret::Noop { .. })), "{again:?}");
    let conflict = here
        .rotate_secret(RotateSecretArgs::parse("k2", "facadefacadefacadefacadefacadefa", 0).unwrap())
        .await
        .unwrap();
    assert!(conflict.failed.iter().all(|(_, error)| error.code() == Code::RotationConflict), "{conflict:?}");
    assert_eq!(conflict.failed.len(), usize::from(FEW_PARTITIONS.num_flow_partitions));
    assert_eq!(findings(&here).await, []);
}

#[tokio::test]
async fn reading_the_delivery_feed_enables_hints_for_later_deliveries() {
    let server = Process::start(Flavour::Valkey, &[]);
    let (here, there) = (connect(&server.url()).await, connect(&server.url()).await);
    let mut hints = there.hints();
    let (id, granted) = suspended(&here).await;
    here.deliver(signal(id, &granted)).await.unwrap();
    let tail = there.deliveries(DeliveriesArgs { after: None, limit: 10 }).await.unwrap();
    assert_eq!(tail.deliveries, []);
    let (id, granted) = suspended(&here).await;
    let delivered = here.deliver(signal(id, &granted)).await.unwrap();
    let next = async {
        loop {
            if let Hint::SignalDelivered { partition } = hints.next().await.expect("hints go on") {
                return partition;
            }
        }
    };
    let partition = tokio::time::timeout(PATIENCE, next).await.expect("a hint comes");
    assert_eq!(partition, id.partition(), "a delivery before the first read has no hint");
    let news = there.deliveries(DeliveriesArgs { after: Some(tail.next), limit: 10 }).await.unwrap();
    assert_eq!(news.deliveries.iter().map(|delivery| delivery.signal_id).collect::<Vec<_>>(), [delivered.signal_id]);
    assert!(!news.missed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_works_on_a_cluster() {
    let cluster = Cluster::start();
    let store = connect(&cluster.url()).await;
    let tail = store.deliveries(DeliveriesArgs { after: None, limit: 1 }).await.unwrap().next;
    let mut partitions = BTreeSet::new();
    for _ in 0..24 {
        let id = store.submit(SubmitArgs { uuid: Uuid::now_v7(), ..work() }).await.unwrap().execution_id;
        partitions.insert(id.partition());
        let fence = claim(&store, &id).await.task.fence;
        let keys = [key("a"), key("b")];
        let args = SuspendArgs {
            waitpoints: keys.iter().map(|key| WaitpointBinding::Fresh { key: key.clone() }).collect(),
            condition: Condition::AllOf {
                members: keys.map(|waitpoint| Condition::Signal { waitpoint, name: None }).into(),
            },
            ..SuspendArgs::new(id, fence, key("a"))
        };
        for granted in store.suspend(args).await.unwrap().waitpoints {
            let by_key = WaitpointRef::Key(granted.waitpoint_key.clone());
            store.deliver(DeliverArgs { waitpoint: by_key, ..signal(id, &granted) }).await.unwrap();
        }
        let ClaimedExecution { task, signals, .. } = claim(&store, &id).await;
        assert_eq!((task.resumed, signals.len()), (true, 2));
        assert!(signals.iter().all(|received| received.payload == Some(Payload::json("\"yes\""))));
    }
    assert!(partitions.len() > 4, "the work is spread");
    let news = store.deliveries(DeliveriesArgs { after: Some(tail), limit: 1_000 }).await.unwrap();
    assert_eq!(news.deliveries.len(), 48);
    assert!(
        store
            .rotate_secret(RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 0).unwrap())
            .await
            .unwrap()
            .is_complete()
    );
    assert_eq!(findings(&store).await, []);
}
