//! A cluster: its partitions are spread over primaries, which stop and restart one by one.

use std::sync::Arc;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::Perform;
use ff_core::backend::clock::ManualClock;
use ff_core::engine_error::EngineError;
use ff_core::partition::cluster_slot;
use ff_core::types::TimestampMs;
use tokio::task::block_in_place;

use crate::load::Load;
use crate::support::{Cluster, Process};
use crate::{FEW_PARTITIONS, LEASE_TTL_MS, connect, options, work};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_is_killed_under_load_takes_only_its_own_partitions_along() {
    let mut cluster = Cluster::start();
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    let options = ValkeyOptions { clock: Some(clock.clone()), ..options() };
    let load = Load::on(ValkeyBackend::connect(&cluster.url(), options).await.unwrap());
    let callers = load.start(25);

    load.goes_on(100).await;
    for node in &cluster.nodes {
        assert_eq!(node.ask(&["FUNCTION", "FLUSH", "SYNC"]), "+OK");
    }
    load.goes_on(100).await;
    assert_eq!(load.repeated(), 0, "a caller was told that functions were lost");
    for nth in 0..2 {
        load.goes_on(100).await;
        let (own, others) = partitions(&cluster.nodes[nth]);
        assert!(!own.is_empty() && !others.is_empty(), "the partitions are spread");
        load.all_there(false);
        block_in_place(|| cluster.nodes[nth].kill());
        for partition in others {
            load.works_on(partition).await;
        }
        block_in_place(|| cluster.nodes[nth].restart());
        block_in_place(|| cluster.wait_until_whole());
        load.all_there(true);
    }
    callers.join_all().await;
    assert!(load.repeated() > 0, "no call was under way when it was killed");
    // A claim whose reply was lost is claimed again.
    clock.advance(LEASE_TTL_MS);
    load.drain().await;
    load.holds().await;
}

/// While a slot is being moved, its keys are on two nodes, and a function on one of them would see half of a partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_function_runs_where_a_slot_is_moved_to() {
    let cluster = block_in_place(Cluster::start);
    let store = connect(&cluster.url()).await;
    let (from, to) = (&cluster.nodes[0], &cluster.nodes[1]);
    let (own, _) = partitions(from);
    let slot = cluster_slot(&format!("{{fp:{}}}", own[0])).to_string();
    let [from_id, to_id] = [from, to].map(|node| node.ask(&["CLUSTER", "MYID"]).lines().last().unwrap().to_owned());
    assert_eq!(to.ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]), "+OK");
    assert_eq!(from.ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]), "+OK");
    let args = std::iter::repeat_with(work).find(|args| args.execution_id(&FEW_PARTITIONS).partition() == own[0]);
    let answer = store.submit(args.clone().unwrap()).await;
    assert!(matches!(&answer, Err(EngineError::Unavailable(why)) if why.contains("ASK")), "{answer:?}");
    assert_eq!(to.ask(&["CLUSTER", "COUNTKEYSINSLOT", &slot]), ":0");
    for node in [from, to] {
        assert_eq!(node.ask(&["CLUSTER", "SETSLOT", &slot, "STABLE"]), "+OK");
    }
    store.submit(args.unwrap()).await.unwrap();
}

/// Returns the partitions that a node has, and the others.
pub(crate) fn partitions(node: &Process) -> (Vec<u16>, Vec<u16>) {
    let has = |partition: &u16| !node.ask(&["EXISTS", &format!("{{fp:{partition}}}")]).starts_with("-MOVED");
    (0..FEW_PARTITIONS.num_flow_partitions).partition(has)
}
