//! The keys of a flow, compared with the key builders of the contract, because Lua spells out the names itself.

use std::collections::BTreeSet;

use ff_core::contracts::{CreateFlowArgs, EdgeAddition, FlowHeader, GrowFlowArgs, JoinSpec, MemberRef, NodeSpec};
use ff_core::flow::{Join, OnSatisfied, PassMode};
use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::limits;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{FlowId, IdempotencyKey, InputName, Kind, Namespace, TagKey, TagValue};
use ff_script::LibraryClock;
use ff_script::execution::ff_complete_execution;
use ff_script::flow::{ff_create_flow, ff_grow_flow};
use redis::cmd;

use super::scene::{claim, graph, node, submit};
use crate::situation::ONE_PARTITION;
use crate::wire::Wire;

type KeySet = BTreeSet<(String, &'static str)>;

fn flow_keys(flow_id: &FlowId) -> (FlowKeyContext, FlowIndexKeys, IndexKeys, Partition) {
    let partition = Partition::new(PartitionFamily::Execution, 0);
    (FlowKeyContext::new(&partition, flow_id), FlowIndexKeys::new(&partition), IndexKeys::new(&partition), partition)
}

/// Follows a flow that has every kind of data, and looks for each of its keys.
#[tokio::test]
async fn a_flow_is_kept_under_the_keys_of_the_contract() {
    let wire = Wire::start(LibraryClock::Test).await;
    let header = FlowHeader::new(Kind::parse("etl").unwrap());
    let flow_id = header.flow_id;
    let tags = [(TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap())].into();
    ff_create_flow(&wire, &ONE_PARTITION, CreateFlowArgs { header: FlowHeader { tags, ..header } }).await.unwrap();
    let (flow, flows, index, partition) = flow_keys(&flow_id);
    let (core, all) = (flow.core(), flows.flows());
    let empty = [
        (core, "hash"),
        (flow.tags(), "hash"),
        (flow.events(), "stream"),
        (flows.flow_index(), "set"),
        (all, "zset"),
        (index.clock(), "string"),
        (ff_script::test_clock_key("{fp:0}"), "string"),
    ];
    assert_eq!(list_keys(&wire).await, empty.clone().into());

    let spec = |name| NodeSpec::new(node(name), Kind::parse("work").unwrap(), Payload::json("1"));
    let member = |name| MemberRef::Node(node(name));
    let passes = Some(PassMode::Input(InputName::parse("left").unwrap()));
    let join = Join::AnyOf { on_satisfied: OnSatisfied::LetRun };
    let growth = GrowFlowArgs {
        nodes: vec![spec("a"), spec("b")],
        joins: vec![JoinSpec { member: member("b"), join }],
        edges: vec![EdgeAddition { upstream: member("a"), downstream: member("b"), passes }],
        idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
        ..GrowFlowArgs::new(flow_id)
    };
    let grown = ff_grow_flow(&wire, &ONE_PARTITION, growth).await.unwrap();
    let ([a, b], edge) = (grown.members[..].try_into().unwrap(), grown.edges[0].0);
    let (lane, kind) = (ff_core::types::LaneId::default_name(), Kind::parse("work").unwrap());
    let child = ExecKeyContext::new(&partition, &b);
    let of_a = ExecKeyContext::new(&partition, &a);
    let mut expected: KeySet = empty.into();
    expected.extend([
        (flow.members(), "set"),
        (flow.nodes(), "list"),
        (flow.graph(), "zset"),
        (flow.summary(), "hash"),
        (flow.member(&a), "hash"),
        (flow.member(&b), "hash"),
        (flow.edge(&edge), "hash"),
        (flow.outgoing(&a), "set"),
        (flow.incoming(&b), "set"),
        (flow.edgegroup(&b), "hash"),
        (flow.grant("once"), "hash"),
        (flow.grants(), "zset"),
        (of_a.core(), "hash"),
        (of_a.payload(), "string"),
        (child.core(), "hash"),
        (child.payload(), "string"),
        (child.dep_edge(&edge), "hash"),
        (child.deps_unresolved(), "set"),
        (child.deps_all_edges(), "set"),
        (child.deps_meta(), "hash"),
        (index.all_executions(), "zset"),
        (index.lanes(), "set"),
        (index.lane_eligible(&lane), "zset"),
        (index.lane_eligible_kind(&lane, &kind), "zset"),
        (index.lane_blocked_dependencies(&lane), "zset"),
        (index.in_state(&Namespace::default_name(), PublicState::WaitingChildren), "zset"),
    ]);
    assert_eq!(list_keys(&wire).await, expected);

    let task = claim(&wire, 1).await.remove(0);
    let result = Some(Payload::json("2"));
    let done = ff_core::contracts::CompleteArgs { execution_id: a, fence: task.fence, result };
    ff_complete_execution(&wire, done).await.unwrap();
    let now = list_keys(&wire).await;
    assert!(now.contains(&(child.deps_inputs(), "zset")));
    let counted: Vec<String> = wire
        .ask(cmd("HMGET").arg(child.deps_meta()).arg(&[
            "flow_id",
            "graph_revision",
            "required",
            "satisfied",
            "impossible",
        ]))
        .await;
    assert_eq!(counted, [&flow_id.to_string(), "1", "1", "1", "0"]);
    assert!(!now.contains(&(child.deps_unresolved(), "set")), "nothing is unresolved any more");
}

/// The pending work of a step is in the indexes of pending work.
#[tokio::test]
async fn pending_work_is_kept_under_the_keys_of_the_contract() {
    let wire = Wire::start(LibraryClock::Test).await;
    let names: Vec<_> = (0..2 * limits::FLOW_STEP).map(|n| format!("n{n}")).collect();
    let mut nodes: Vec<_> = names.iter().map(String::as_str).collect();
    let edges: Vec<_> = nodes.iter().map(|name| (*name, "z")).collect();
    nodes.push("z");
    let join = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
    let flow_id = submit(&wire, graph(&nodes, &edges, &[("z", join)])).await;
    let (flow, flows, index, _) = flow_keys(&flow_id);
    assert!(list_keys(&wire).await.contains(&(flows.opening(), "zset")));
    while wire.ask::<usize>(cmd("EXISTS").arg(flows.opening())).await > 0 {
        super::steps::pump(&wire).await;
    }
    let first = claim(&wire, 1).await.remove(0);
    super::scene::complete(&wire, &first).await;
    let now = list_keys(&wire).await;
    for key in [(flows.pending_cancel_groups(), "set"), (flows.sibling_backlog(), "zset")] {
        assert!(now.contains(&key), "{key:?}");
    }
    assert!(now.contains(&(index.dispatch_backlog(), "zset")), "those that were cancelled owe their end");
    super::steps::cancel(&wire, flow_id).await;
    let now = list_keys(&wire).await;
    assert!(now.contains(&(flows.cancel_backlog(), "zset")));
    let at: u64 = wire.ask(cmd("ZSCORE").arg(flows.cancel_backlog()).arg(flow_id.to_string())).await;
    assert_eq!(at, wire.now() + limits::CANCEL_GRACE_MS, "when the grace ends");
    let owed = async || wire.ask::<usize>(cmd("SCARD").arg(flow.pending_cancels())).await;
    let mut left = owed().await;
    assert_eq!(left, nodes.len() - limits::FLOW_STEP, "every member that was not come to");
    for _ in 0..1_000 {
        super::steps::pump(&wire).await;
        let now = owed().await;
        assert!(now <= left, "{now} of {left}");
        left = now;
    }
    assert_eq!(left, 0);
    super::steps::drain(&wire).await;
    let now = list_keys(&wire).await;
    let owing = [flows.opening(), flows.cancel_backlog(), flows.sibling_backlog(), flows.pending_cancel_groups()];
    for key in owing.into_iter().chain([index.dispatch_backlog(), flow.pending_cancels()]) {
        assert!(!now.iter().any(|(name, _)| *name == key), "{key}");
    }
}

/// Returns every key on the server, with its type.
async fn list_keys(wire: &Wire) -> KeySet {
    let mut keys = BTreeSet::new();
    for key in wire.keys().await {
        let kind: String = wire.ask(cmd("TYPE").arg(&key)).await;
        let known = ["string", "hash", "list", "set", "zset", "stream"].into_iter().find(|known| *known == kind);
        keys.insert((key, known.unwrap()));
    }
    keys
}
