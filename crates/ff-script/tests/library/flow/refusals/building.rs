//! Refusals of the functions that build a graph: submitting, creating, growing, and the forms that add one element.

use bytes::Bytes;
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_script::Fcall;
use ff_script::signature::{
    AddExecutionToFlow, CreateFlow, GrowFlow, SetEdgeGroupPolicy, StageDependencyEdge, SubmitFlow,
};

use super::Case;
use crate::flow::scene::{Scene, Stand, graph};

use Code::*;
use Stand::*;

const NODES: u64 = limits::FLOW_NODES as u64;
const EDGES: u64 = limits::FLOW_EDGES as u64;
const BYTES: u64 = limits::FLOW_BYTES as u64;

/// Returns the second of two parts.
fn part(scene: &Scene) -> SubmitFlow {
    SubmitFlow {
        core: scene.core(),
        namespace: "default".into(),
        kind: "etl".into(),
        traceparent: None,
        tracestate: None,
        tags: vec![],
        fingerprint: "another".into(),
        part: 1,
        parts: 2,
        nodes: vec![],
        edges: vec![],
    }
}

/// Returns a graph that is submitted as one part.
fn whole(scene: &Scene, nodes: &[&str], edges: Vec<Bytes>) -> Fcall {
    let nodes = nodes.iter().flat_map(|name| scene.node_items(name)).collect();
    SubmitFlow { part: 0, parts: 1, nodes, edges, ..part(scene) }.call()
}

/// Returns one more node, as the next part of the staged graph with the same fingerprint.
fn one_more(scene: &Scene) -> SubmitFlow {
    let fingerprint = graph(&["a", "x", "b"], &[("a", "b")], &[]).plan().unwrap().remove(0).fingerprint;
    SubmitFlow { fingerprint: fingerprint.into(), nodes: scene.node_items("c"), ..part(scene) }
}

pub(super) const SUBMIT: &[Case] = &[
    (Open, |scene| part(scene).call(), IdempotencyConflict),
    (Staged, |scene| part(scene).call(), IdempotencyConflict),
    (Absent, |scene| part(scene).call(), FlowNotFound),
    (Absent, |scene| whole(scene, &["a", "a"], vec![]), ExecutionAlreadyInFlow),
    (Absent, |scene| whole(scene, &["a"], scene.between("z", "a")), ExecutionNotInFlow),
    (Absent, |scene| whole(scene, &["a"], scene.edge_items(&scene.stranger, &scene.member("a"))), ExecutionNotInFlow),
    (Absent, |scene| whole(scene, &["a"], scene.between("a", "a")), SelfReferencingEdge),
    (
        Absent,
        |scene| whole(scene, &["a", "b"], [scene.between("a", "b"), scene.between("a", "b")].concat()),
        DependencyAlreadyExists,
    ),
    (Absent, |scene| whole(scene, &["a", "b"], scene.between("b", "a")), CycleDetected),
    (StagedWith("nodes", NODES), |scene| one_more(scene).call(), LimitExceeded),
    (StagedWith("payload_bytes", BYTES), |scene| one_more(scene).call(), PayloadTooLarge),
    (
        StagedWith("edges", EDGES),
        |scene| SubmitFlow { edges: scene.between("x", "b"), ..one_more(scene) }.call(),
        LimitExceeded,
    ),
    (Absent, |scene| whole(scene, &[], vec![]), InvalidInput),
    (Absent, |scene| SubmitFlow { part: 2, ..part(scene) }.call(), InvalidInput),
    (Staged, |scene| SubmitFlow { part: 2, parts: 3, ..one_more(scene) }.call(), InvalidInput),
    (StagedWith("staging_short", 1), |scene| one_more(scene).call(), InvalidInput),
];

fn create(scene: &Scene, kind: &str) -> Fcall {
    CreateFlow {
        core: scene.core(),
        namespace: "default".into(),
        kind: kind.into(),
        traceparent: None,
        tracestate: None,
        tags: vec![],
    }
    .call()
}

pub(super) const CREATE: &[Case] = &[
    (Open, |scene| create(scene, "etl"), IdempotencyConflict),
    (Open, |scene| create(scene, "other"), IdempotencyConflict),
];

fn grow(scene: &Scene) -> GrowFlow {
    GrowFlow {
        core: scene.core(),
        nodes: vec![],
        joins: vec![],
        edges: vec![],
        expected_graph_revision: None,
        holder_id: None,
        lease_id: None,
        lease_epoch: None,
        attempt_id: None,
        idempotency_key: None,
    }
}

/// Returns a call by the holder of `a`.
fn held(scene: &Scene) -> GrowFlow {
    GrowFlow {
        holder_id: Some(scene.member("a").to_string()),
        lease_id: Some(scene.fence.lease_id.to_string()),
        lease_epoch: Some(scene.fence.lease_epoch.0),
        attempt_id: Some(scene.fence.attempt_id.to_string()),
        ..grow(scene)
    }
}

pub(super) const GROW: &[Case] = &[
    (Absent, |scene| grow(scene).call(), FlowNotFound),
    (Staged, |scene| grow(scene).call(), FlowNotFound),
    (Ended, |scene| grow(scene).call(), FlowAlreadyTerminal),
    (Cancelled, |scene| grow(scene).call(), FlowAlreadyTerminal),
    (Open, |scene| held(scene).call(), ExecutionNotActive),
    (HeldByAnother, |scene| held(scene).call(), StaleLease),
    (RanOut, |scene| held(scene).call(), LeaseExpired),
    (Revoked, |scene| held(scene).call(), LeaseRevoked),
    (
        Held,
        |scene| GrowFlow { lease_id: None, lease_epoch: None, attempt_id: None, ..held(scene) }.call(),
        FenceRequired,
    ),
    (Held, |scene| GrowFlow { lease_id: None, ..held(scene) }.call(), PartialFenceTriple),
    (Open, |scene| GrowFlow { expected_graph_revision: Some(7), ..grow(scene) }.call(), StaleGraphRevision),
    (Open, |scene| GrowFlow { nodes: scene.node_items("a"), ..grow(scene) }.call(), ExecutionAlreadyInFlow),
    (Open, |scene| GrowFlow { edges: scene.between("z", "a"), ..grow(scene) }.call(), ExecutionNotInFlow),
    (Open, |scene| GrowFlow { edges: scene.between("a", "z"), ..grow(scene) }.call(), ExecutionNotInFlow),
    (Held, |scene| GrowFlow { holder_id: Some(scene.plain.id.to_string()), ..held(scene) }.call(), ExecutionNotInFlow),
    (
        Open,
        |scene| GrowFlow { edges: scene.edge_items(&scene.stranger, &scene.member("b")), ..grow(scene) }.call(),
        ExecutionNotInFlow,
    ),
    (Open, |scene| GrowFlow { edges: scene.between("b", "b"), ..grow(scene) }.call(), SelfReferencingEdge),
    (Open, |scene| GrowFlow { edges: scene.between("a", "b"), ..grow(scene) }.call(), DependencyAlreadyExists),
    (Open, |scene| GrowFlow { edges: scene.between("b", "a"), ..grow(scene) }.call(), CycleDetected),
    (Held, |scene| GrowFlow { edges: scene.between("b", "x"), ..grow(scene) }.call(), NotRunnable),
    (OpenWith("nodes", NODES), |scene| GrowFlow { nodes: scene.node_items("c"), ..grow(scene) }.call(), LimitExceeded),
    (
        OpenWith("payload_bytes", BYTES),
        |scene| GrowFlow { nodes: scene.node_items("c"), ..grow(scene) }.call(),
        PayloadTooLarge,
    ),
    (
        OpenWith("edges", EDGES),
        |scene| GrowFlow { edges: scene.between("x", "b"), ..grow(scene) }.call(),
        LimitExceeded,
    ),
    (
        Open,
        |scene| {
            let joins = scene.join_items(&scene.member("x"), "quorum", "2");
            GrowFlow { joins, edges: scene.between("a", "x"), ..grow(scene) }.call()
        },
        InvalidInput,
    ),
];

fn add(scene: &Scene, name: &str) -> AddExecutionToFlow {
    AddExecutionToFlow { core: scene.core(), node: scene.node_items(name), expected_graph_revision: None }
}

pub(super) const ADD: &[Case] = &[
    (Absent, |scene| add(scene, "c").call(), FlowNotFound),
    (Ended, |scene| add(scene, "c").call(), FlowAlreadyTerminal),
    (
        Open,
        |scene| AddExecutionToFlow { expected_graph_revision: Some(7), ..add(scene, "c") }.call(),
        StaleGraphRevision,
    ),
    (Open, |scene| add(scene, "a").call(), ExecutionAlreadyInFlow),
    (OpenWith("nodes", NODES), |scene| add(scene, "c").call(), LimitExceeded),
    (OpenWith("payload_bytes", BYTES), |scene| add(scene, "c").call(), PayloadTooLarge),
    (Open, |scene| AddExecutionToFlow { node: vec![], ..add(scene, "c") }.call(), InvalidInput),
];

fn stage(scene: &Scene, edges: Vec<Bytes>) -> StageDependencyEdge {
    StageDependencyEdge { core: scene.core(), edges, expected_graph_revision: None }
}

pub(super) const STAGE: &[Case] = &[
    (Absent, |scene| stage(scene, scene.between("x", "b")).call(), FlowNotFound),
    (Ended, |scene| stage(scene, scene.between("x", "b")).call(), FlowAlreadyTerminal),
    (
        Open,
        |scene| {
            let edge = stage(scene, scene.between("x", "b"));
            StageDependencyEdge { expected_graph_revision: Some(7), ..edge }.call()
        },
        StaleGraphRevision,
    ),
    (Open, |scene| stage(scene, scene.between("z", "b")).call(), ExecutionNotInFlow),
    (Open, |scene| stage(scene, scene.edge_items(&scene.stranger, &scene.member("b"))).call(), ExecutionNotInFlow),
    (Open, |scene| stage(scene, scene.between("b", "b")).call(), SelfReferencingEdge),
    (Open, |scene| stage(scene, scene.between("a", "b")).call(), DependencyAlreadyExists),
    (Open, |scene| stage(scene, scene.between("b", "a")).call(), CycleDetected),
    (Held, |scene| stage(scene, scene.between("a", "x")).call(), NotRunnable),
    (OpenWith("edges", EDGES), |scene| stage(scene, scene.between("x", "b")).call(), LimitExceeded),
    (Open, |scene| stage(scene, vec![]).call(), InvalidInput),
];

fn join(scene: &Scene, joins: Vec<Bytes>) -> SetEdgeGroupPolicy {
    SetEdgeGroupPolicy { core: scene.core(), joins, expected_graph_revision: None }
}

fn any_of(scene: &Scene, name: &str) -> Vec<Bytes> {
    scene.join_items(&scene.member(name), "any_of", "")
}

pub(super) const JOIN: &[Case] = &[
    (Absent, |scene| join(scene, any_of(scene, "x")).call(), FlowNotFound),
    (Ended, |scene| join(scene, any_of(scene, "x")).call(), FlowAlreadyTerminal),
    (
        Open,
        |scene| SetEdgeGroupPolicy { expected_graph_revision: Some(7), ..join(scene, any_of(scene, "x")) }.call(),
        StaleGraphRevision,
    ),
    (Open, |scene| join(scene, any_of(scene, "z")).call(), ExecutionNotInFlow),
    (Open, |scene| join(scene, scene.join_items(&scene.stranger, "any_of", "")).call(), ExecutionNotInFlow),
    (Open, |scene| join(scene, any_of(scene, "b")).call(), InvalidInput),
];
