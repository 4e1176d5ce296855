//! The call with which other programs settle edges: exactly the published keys and arguments, and its answers.

use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{AttemptIndex, LaneId};
use ff_script::LibraryClock;
use ff_script::signature::{ResolveDependency, Signature};
use redis::cmd;

use super::scene::{Scene, Stand, exec_core};
use crate::wire::Wire;

/// Returns the call that notifies `b` of the success of `a`.
pub(crate) fn resolve(scene: &Scene) -> ResolveDependency {
    let partition = Partition::new(PartitionFamily::Execution, 0);
    let (from, to, edge, lane) = (scene.member("a"), scene.member("b"), scene.edge("a", "b"), LaneId::default_name());
    let (child, upstream) = (ExecKeyContext::new(&partition, &to), ExecKeyContext::new(&partition, &from));
    let (index, flow) = (IndexKeys::new(&partition), FlowKeyContext::new(&partition, &scene.flow_id));
    ResolveDependency {
        exec_core: child.core(),
        deps_meta: child.deps_meta(),
        deps_unresolved: child.deps_unresolved(),
        dep_edge: child.dep_edge(&edge),
        lane_eligible: index.lane_eligible(&lane),
        lane_terminal: index.lane_terminal(&lane),
        lane_blocked_dependencies: index.lane_blocked_dependencies(&lane),
        attempt_hash: child.attempt_hash(AttemptIndex(0)),
        stream_meta: child.stream_meta(AttemptIndex(0)),
        payload: child.payload(),
        upstream_result: upstream.result(),
        edgegroup: flow.edgegroup(&to),
        incoming: flow.incoming(&to),
        pending_cancel_groups: FlowIndexKeys::new(&partition).pending_cancel_groups(),
        edge_id: edge.to_string(),
        upstream_outcome: "success".into(),
        now_ms: "1".into(),
        flow_id: scene.flow_id.to_string(),
        downstream_execution_id: to.to_string(),
    }
}

#[tokio::test]
async fn an_edge_is_settled_once_by_the_call_that_was_published() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Held.arrange(&wire).await;
    let call = resolve(&scene).call();
    let Signature { keys_required, args_required, .. } = call.signature;
    assert_eq!((call.keys.len(), call.args.len()), (*keys_required, *args_required));
    assert_eq!((call.keys.len(), call.args.len()), (14, 5));
    assert_eq!(wire.answer(call.clone()).await, ["1", "OK", "satisfied", "", "satisfied"]);
    assert_eq!(scene.state("b").await.as_str(), "waiting");
    assert_eq!(wire.answer(call).await, ["1", "OK", "already_resolved"]);
}

#[tokio::test]
async fn an_edge_that_can_no_longer_be_satisfied_skips_its_child() {
    let wire = Wire::start(LibraryClock::Test).await;
    for outcome in ["failed", "cancelled", "expired", "skipped"] {
        wire.empty().await;
        let scene = Stand::Held.arrange(&wire).await;
        let call = ResolveDependency { upstream_outcome: outcome.into(), ..resolve(&scene) }.call();
        assert_eq!(wire.answer(call).await, ["1", "OK", "impossible", "child_skipped", "impossible"], "{outcome}");
        assert_eq!(scene.state("b").await.as_str(), "skipped");
    }
}

#[tokio::test]
async fn a_result_takes_the_place_of_a_payload_byte_by_byte() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Held.arrange(&wire).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let call = resolve(&scene);
    wire.ask::<()>(cmd("SET").arg(&call.upstream_result).arg(&bytes)).await;
    wire.ask::<()>(cmd("HSET").arg(exec_core(&scene.member("a"))).arg("result_bytes").arg(bytes.len())).await;
    wire.ask::<()>(cmd("HSET").arg(&call.dep_edge).arg("passes").arg("payload")).await;
    let payload = call.payload.clone();
    assert_eq!(wire.answer(call.call()).await, ["1", "OK", "satisfied", "data_injected", "satisfied"]);
    assert_eq!(wire.ask::<Vec<u8>>(cmd("GET").arg(payload)).await, bytes);
}
