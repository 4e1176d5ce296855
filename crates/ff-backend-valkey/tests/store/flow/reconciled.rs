//! The safety net: sweeps find members that wait in vain, and nothing else.

use ff_core::flow::edge_id;
use ff_core::keys::{ExecKeyContext, FlowKeyContext};
use ff_core::partition::Partition;
use ff_core::state::PublicState;
use ff_engine::Orchestration;

use super::*;
use crate::connect;
use crate::support::{Flavour, Process};

/// More sweeps than pass between two checks of the safety net.
const SWEEPS: usize = 20;

#[tokio::test]
async fn a_member_that_waits_in_vain_is_found() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let store = connect(&server.url()).await;
    let mut args = flow(["a", "b", "c"]);
    args.edges = vec![edge("a", "b"), edge("c", "b")];
    let id = store.submit_flow(args).await.unwrap().flow_id;
    let partition = partition_of(&store, &id);
    complete_together(&store, &claim_some(&store, partition, 2).await).await;
    let [a, b] = ["a", "b"].map(|node| member(&store, &id, node));
    assert_eq!(store.describe(&b).await.unwrap().public_state, PublicState::Waiting);

    // Restores the edge, the join and the member, as if the end had never been propagated.
    let edge = edge_id(&id, &a, &b);
    let of = ExecKeyContext::new(&Partition::of(&b), &b);
    let flow = FlowKeyContext::new(&Partition::of(&b), &id);
    let group = flow.edgegroup(&b);
    server.ask(&["HSET", &of.dep_edge(&edge), "state", "pending"]);
    server.ask(&["SADD", &of.deps_unresolved(), &edge.to_string()]);
    server.ask(&["HSET", &group, "succeeded", "1", "group_state", "pending"]);
    server.ask(&["HDEL", &group, "satisfied_at"]);
    server.ask(&["HSET", &flow.summary(), "waiting_children", "1"]);
    server.ask(&["HDEL", &flow.summary(), "waiting"]);
    let tag = Partition::of(&b).hash_tag();
    server.ask(&["HSET", &of.core(), "public_state", "waiting_children"]);
    for queue in ["eligible", "eligible:work"] {
        server.ask(&["ZREM", &format!("ff:idx:{tag}:lane:default:{queue}"), &b.to_string()]);
    }
    server.ask(&["ZADD", &format!("ff:idx:{tag}:lane:default:blocked:dependencies"), "1", &b.to_string()]);
    assert_eq!(store.describe(&b).await.unwrap().public_state, PublicState::WaitingChildren);

    for _ in 0..SWEEPS {
        store.sweep(partition).await.unwrap();
    }
    assert_eq!(store.describe(&b).await.unwrap().public_state, PublicState::Waiting);
}

#[tokio::test]
async fn a_member_that_waits_with_reason_is_left_waiting() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let store = connect(&server.url()).await;
    let mut args = flow(["a", "b"]);
    args.edges = vec![edge("a", "b")];
    let id = store.submit_flow(args).await.unwrap().flow_id;
    let partition = partition_of(&store, &id);
    let before = store.snapshot(partition).await.unwrap();
    for _ in 0..SWEEPS {
        store.sweep(partition).await.unwrap();
    }
    assert!(store.snapshot(partition).await.unwrap() == before);
}
