//! Every refusal that the functions of flows name: it is given, and nothing is written.

mod building;

use bytes::Bytes;
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_script::signature::{
    AckCancelMember, ApplyDependencyToChild, CancelFlow, CascadeCompletion, CloseFlow, DrainSiblingCancelGroup,
    EvaluateFlowEligibility, MoveToWaitingChildren, PromoteBlockedToEligible, ReadFlow, ReadFlowEdges, ReadFlowEvents,
    ReadFlowKeys, ReadFlowMembers, ReconcileSiblingCancelGroup, ReplayExecution, SetFlowTags,
};
use ff_script::{Fcall, LibraryClock};

use building::{ADD, CREATE, GROW, JOIN, STAGE, SUBMIT};

use super::published::resolve;
use super::scene::{Scene, Stand, exec_core};
use crate::malformed;
use crate::refused::assert_refused;
use crate::wire::Wire;

use Code::*;
use Stand::*;

/// The state of the flow, the call, and the expected code.
type Case = (Stand, fn(&Scene) -> Fcall, Code);

fn cancel(scene: &Scene, policy: &str) -> Fcall {
    CancelFlow { core: scene.core(), policy_name: policy.into(), reason: None, requested_by: None }.call()
}

const CANCEL: &[Case] = &[
    (Absent, |scene| cancel(scene, "cancel_all"), FlowNotFound),
    (Staged, |scene| cancel(scene, "cancel_all"), FlowNotFound),
    (Ended, |scene| cancel(scene, "cancel_all"), FlowAlreadyTerminal),
    (Open, |scene| cancel(scene, "cancel_some"), InvalidInput),
];

fn ack(scene: &Scene, execution_id: String) -> Fcall {
    AckCancelMember { core: scene.core(), execution_id }.call()
}

const ACK: &[Case] = &[
    (Absent, |scene| ack(scene, scene.member("a").to_string()), FlowNotFound),
    (Open, |scene| ack(scene, scene.member("z").to_string()), ExecutionNotFound),
    (Open, |scene| ack(scene, scene.stranger.to_string()), ExecutionNotInFlow),
];

fn tags(scene: &Scene, count: usize) -> Fcall {
    let tags = (0..count).flat_map(|n| [format!("k{n}").into(), Bytes::from_static(b"v")]).collect();
    SetFlowTags { core: scene.core(), tags }.call()
}

const ADJUST: &[(&str, &[Case])] = &[
    ("ff_close_flow", &[(Absent, |scene| CloseFlow { core: scene.core() }.call(), FlowNotFound)]),
    (
        "ff_set_flow_tags",
        &[(Absent, |scene| tags(scene, 1), FlowNotFound), (Open, |scene| tags(scene, limits::TAGS + 1), LimitExceeded)],
    ),
];

fn wait(scene: &Scene) -> MoveToWaitingChildren {
    MoveToWaitingChildren {
        core: exec_core(&scene.member("a")),
        lease_id: scene.fence.lease_id.to_string(),
        lease_epoch: scene.fence.lease_epoch.0,
        attempt_id: scene.fence.attempt_id.to_string(),
    }
}

/// Returns the call of a holder whose execution is in no flow.
fn wait_alone(scene: &Scene) -> Fcall {
    let fence = scene.plain.fence;
    MoveToWaitingChildren {
        core: exec_core(&scene.plain.id),
        lease_id: fence.lease_id.to_string(),
        lease_epoch: fence.lease_epoch.0,
        attempt_id: fence.attempt_id.to_string(),
    }
    .call()
}

const WAIT: &[Case] = &[
    (Absent, |scene| wait(scene).call(), ExecutionNotFound),
    (Staged, |scene| wait(scene).call(), ExecutionNotFound),
    (Open, |scene| wait(scene).call(), ExecutionNotActive),
    (HeldByAnother, |scene| wait(scene).call(), StaleLease),
    (RanOut, |scene| wait(scene).call(), LeaseExpired),
    (Revoked, |scene| wait(scene).call(), LeaseRevoked),
    (Open, wait_alone, ExecutionNotInFlow),
    (Held, |scene| wait(scene).call(), InvalidDependency),
];

const CASCADE: &[Case] = &[
    (Absent, |scene| CascadeCompletion { core: exec_core(&scene.member("a")) }.call(), ExecutionNotFound),
    (Held, |scene| CascadeCompletion { core: exec_core(&scene.member("a")) }.call(), ExecutionNotTerminal),
];

const RESOLVE: &[Case] = &[
    (Absent, |scene| resolve(scene).call(), ExecutionNotFound),
    (
        Open,
        |scene| {
            let call = resolve(scene);
            let downstream_execution_id = scene.stranger.to_string();
            ff_script::signature::ResolveDependency { downstream_execution_id, ..call }.call()
        },
        ExecutionNotInFlow,
    ),
    (
        Open,
        |scene| {
            let edge_id = scene.edge("x", "b").to_string();
            ff_script::signature::ResolveDependency { edge_id, ..resolve(scene) }.call()
        },
        InvalidDependency,
    ),
    (
        Open,
        |scene| {
            let upstream_outcome = "none".into();
            ff_script::signature::ResolveDependency { upstream_outcome, ..resolve(scene) }.call()
        },
        InvalidInput,
    ),
];

fn apply(scene: &Scene, core: String) -> Fcall {
    let (edge_id, upstream_id) = (scene.edge("x", "b").to_string(), scene.member("x").to_string());
    ApplyDependencyToChild { core, edge_id, upstream_id }.call()
}

const APPLY: &[Case] = &[
    (Absent, |scene| apply(scene, exec_core(&scene.member("b"))), ExecutionNotFound),
    (Open, |scene| apply(scene, exec_core(&scene.plain.id)), ExecutionNotInFlow),
    (Open, |scene| apply(scene, exec_core(&scene.member("b"))), InvalidDependency),
];

const DRAIN: &[Case] = &[
    (Absent, |scene| DrainSiblingCancelGroup { core: exec_core(&scene.member("b")) }.call(), ExecutionNotFound),
    (Open, |scene| DrainSiblingCancelGroup { core: exec_core(&scene.plain.id) }.call(), ExecutionNotInFlow),
];

const RECONCILE: &[Case] = &[
    (Absent, |scene| ReconcileSiblingCancelGroup { core: exec_core(&scene.member("b")) }.call(), ExecutionNotFound),
    (Open, |scene| ReconcileSiblingCancelGroup { core: exec_core(&scene.plain.id) }.call(), ExecutionNotInFlow),
];

const EVALUATE: &[Case] = &[
    (Absent, |scene| EvaluateFlowEligibility { core: exec_core(&scene.member("b")) }.call(), ExecutionNotFound),
    (Open, |scene| EvaluateFlowEligibility { core: exec_core(&scene.plain.id) }.call(), ExecutionNotInFlow),
];

const PROMOTE: &[Case] = &[
    (Absent, |scene| PromoteBlockedToEligible { core: exec_core(&scene.member("b")) }.call(), ExecutionNotFound),
    (Open, |scene| PromoteBlockedToEligible { core: exec_core(&scene.member("a")) }.call(), NotBlockedByDeps),
    (Open, |scene| PromoteBlockedToEligible { core: exec_core(&scene.member("b")) }.call(), DepsNotSatisfied),
];

fn replay(scene: &Scene, name: &str) -> Fcall {
    let core = exec_core(&scene.member(name));
    let (reason, requested_by, from_name) = (None, None, None);
    ReplayExecution { core, reason, requested_by, reopen_downstream: false, from_name, from_key: Default::default() }
        .call()
}

const REPLAY: &[Case] = &[
    (Cancelled, |scene| replay(scene, "a"), FlowAlreadyTerminal),
    (Failed, |scene| replay(scene, "b"), DepsNotSatisfied),
];

const READING: &[(&str, &[Case])] = &[
    (
        "ff_read_flow",
        &[(Staged, |scene| ReadFlow { core: scene.core(), staged: false, await_end: true }.call(), FlowNotFound)],
    ),
    (
        "ff_read_flow_members",
        &[(
            Staged,
            |scene| ReadFlowMembers { core: scene.core(), staged: false, from: 0, limit: 9 }.call(),
            FlowNotFound,
        )],
    ),
    (
        "ff_read_flow_edges",
        &[(
            Staged,
            |scene| ReadFlowEdges { core: scene.core(), staged: false, after: None, limit: 9 }.call(),
            FlowNotFound,
        )],
    ),
    (
        "ff_read_flow_events",
        &[(
            Staged,
            |scene| ReadFlowEvents { core: scene.core(), from: 0, limit: 9, await_more: true, staged: false }.call(),
            FlowNotFound,
        )],
    ),
    ("ff_read_flow_keys", &[(Absent, |scene| ReadFlowKeys { core: scene.core() }.call(), FlowNotFound)]),
];

const CHANGING: &[(&str, &[Case])] = &[
    ("ff_submit_flow", SUBMIT),
    ("ff_create_flow", CREATE),
    ("ff_grow_flow", GROW),
    ("ff_add_execution_to_flow", ADD),
    ("ff_stage_dependency_edge", STAGE),
    ("ff_set_edge_group_policy", JOIN),
    ("ff_cancel_flow", CANCEL),
    ("ff_ack_cancel_member", ACK),
    ("ff_move_to_waiting_children", WAIT),
    ("ff_cascade_completion", CASCADE),
    ("ff_resolve_dependency", RESOLVE),
    ("ff_apply_dependency_to_child", APPLY),
    ("ff_drain_sibling_cancel_group", DRAIN),
    ("ff_reconcile_sibling_cancel_group", RECONCILE),
    ("ff_evaluate_flow_eligibility", EVALUATE),
    ("ff_promote_blocked_to_eligible", PROMOTE),
    ("ff_replay_execution", REPLAY),
];

fn cases() -> impl Iterator<Item = &'static (&'static str, &'static [Case])> {
    CHANGING.iter().chain(ADJUST).chain(READING)
}

#[tokio::test]
async fn a_refusal_is_given_and_writes_nothing() {
    let wire = Wire::start(LibraryClock::Test).await;
    for (function, cases) in cases() {
        for (nth, (stand, call, code)) in cases.iter().enumerate() {
            wire.empty().await;
            let scene = stand.arrange(&wire).await;
            let call = call(&scene);
            assert_eq!(call.signature.name, *function);
            let case = format!("case {nth} of {function}, {stand:?}");
            assert_refused(&wire, &case, *code, malformed::ask(&wire, &call)).await;
        }
    }
}

/// Returns the functions and refusals that are tested here.
pub(crate) fn tried() -> impl Iterator<Item = (&'static str, &'static str)> {
    cases().flat_map(|(function, cases)| cases.iter().map(|(_, _, code)| (*function, code.as_str())))
}
