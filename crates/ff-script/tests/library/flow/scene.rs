//! States of a flow before a call.

use bytes::Bytes;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{
    CancelFlowArgs, ClaimArgs, CompleteArgs, EdgeSpec, FailArgs, FlowHeader, NodeSpec, RevokeArgs, SubmitFlowArgs, Task,
};
use ff_core::execution::Failure;
use ff_core::flow::{CancelPolicy, Join, edge_id, member_id};
use ff_core::keys::{ExecKeyContext, FlowKeyContext};
use ff_core::lease::{Fence, Holder};
use ff_core::partition::{Partition, flow_partition};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{EdgeId, ExecutionId, FlowId, Kind, LeaseEpoch, NodeName};
use ff_script::execution::{ff_complete_execution, ff_fail_execution};
use ff_script::flow::{ff_cancel_flow, ff_submit_flow};
use ff_script::lease::{ff_claim_execution, ff_revoke_lease};
use redis::cmd;

use crate::situation::{LEASE_TTL_MS, ONE_PARTITION, Situation, Subject};
use crate::wire::Wire;

/// The state of a flow in which `a` precedes `b`, and `x` is independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// The flow does not exist.
    Absent,
    /// The first of two parts is submitted.
    Staged,
    /// Staged, and a count in its record is at its limit.
    StagedWith(&'static str, u64),
    Open,
    /// Open, and a count in its record is at its limit.
    OpenWith(&'static str, u64),
    /// `a` and `x` are leased.
    Held,
    /// Held, and the lease of `a` was revoked.
    Revoked,
    /// Revoked, and another worker holds `a` now.
    HeldByAnother,
    /// Held, and the leases have expired.
    RanOut,
    /// `a` failed, and `b` was skipped; `x` runs.
    Failed,
    /// Every member has completed.
    Ended,
    Cancelled,
}

/// A flow, a member of another flow, an execution outside any flow, and the caller's fence on `a`.
pub(crate) struct Scene<'w> {
    pub(crate) wire: &'w Wire,
    pub(crate) flow_id: FlowId,
    pub(crate) stranger: ExecutionId,
    pub(crate) plain: Subject,
    pub(crate) fence: Fence,
}

pub(crate) fn node(name: &str) -> NodeName {
    NodeName::parse(name).unwrap()
}

/// Returns a graph with these nodes, edges and joins.
pub(crate) fn graph(nodes: &[&str], edges: &[(&str, &str)], joins: &[(&str, Join)]) -> SubmitFlowArgs {
    let join = |name: &&str| joins.iter().find(|(of, _)| of == name).map_or(Join::AllOf, |(_, join)| *join);
    let spec = |name: &&str| {
        let spec = NodeSpec::new(node(name), Kind::parse("work").unwrap(), Payload::json("1"));
        NodeSpec { join: join(name), ..spec }
    };
    let edge = |(from, to): &(&str, &str)| EdgeSpec { upstream: node(from), downstream: node(to), passes: None };
    SubmitFlowArgs {
        header: FlowHeader::new(Kind::parse("etl").unwrap()),
        nodes: nodes.iter().map(spec).collect(),
        edges: edges.iter().map(edge).collect(),
    }
}

/// Submits a whole graph.
pub(crate) async fn submit(wire: &Wire, args: SubmitFlowArgs) -> FlowId {
    let flow_id = args.header.flow_id;
    for part in args.plan().unwrap() {
        ff_submit_flow(wire, &ONE_PARTITION, part).await.unwrap();
    }
    flow_id
}

/// Claims up to `max` executions.
pub(crate) async fn claim(wire: &Wire, max: usize) -> Vec<Task> {
    let args = ClaimArgs {
        kinds: vec![Kind::parse("work").unwrap()],
        max,
        ..ClaimArgs::new(0, Holder::parse("w", "w-1").unwrap())
    };
    let claims = ff_claim_execution(wire, args, &SystemEntropy.nonce()).await.unwrap();
    claims.claimed.into_iter().map(|claimed| claimed.task).collect()
}

pub(crate) async fn complete(wire: &Wire, task: &Task) {
    let args = CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: None };
    ff_complete_execution(wire, args).await.unwrap();
}

pub(crate) async fn fail(wire: &Wire, task: &Task) {
    let failure = Failure { category: Kind::parse("error").unwrap(), message: "no".into(), permanent: true };
    let args = FailArgs { execution_id: task.execution_id, fence: task.fence, failure };
    ff_fail_execution(wire, args, &SystemEntropy.nonce()).await.unwrap();
}

impl Stand {
    pub(crate) async fn arrange(self, wire: &Wire) -> Scene<'_> {
        let plain = Situation::Held.arrange(wire).await;
        let other = submit(wire, graph(&["s"], &[], &[])).await;
        for task in claim(wire, 1).await {
            complete(wire, &task).await;
        }
        let (lease_id, attempt_id) = SystemEntropy.nonce().lease(0);
        let mut scene = Scene {
            wire,
            flow_id: FlowId::new(),
            stranger: member_id(&other, &node("s"), &ONE_PARTITION),
            plain,
            fence: Fence { lease_id, lease_epoch: LeaseEpoch(1), attempt_id },
        };
        scene.reach(self).await;
        scene
    }
}

impl Scene<'_> {
    async fn reach(&mut self, stand: Stand) {
        let mut args = graph(&["a", "x", "b"], &[("a", "b")], &[]);
        args.header.flow_id = self.flow_id;
        if stand == Stand::Absent {
            return;
        }
        if matches!(stand, Stand::Staged | Stand::StagedWith(..)) {
            let mut part = args.plan().unwrap().remove(0);
            part.parts = 2;
            ff_submit_flow(self.wire, &ONE_PARTITION, part).await.unwrap();
        } else {
            submit(self.wire, args).await;
        }
        if let Stand::StagedWith(field, count) | Stand::OpenWith(field, count) = stand {
            self.wire.ask::<()>(cmd("HSET").arg(self.core()).arg(field).arg(count)).await;
        }
        match stand {
            Stand::Held | Stand::Revoked | Stand::HeldByAnother | Stand::RanOut => self.hold(stand).await,
            Stand::Failed => {
                let tasks = claim(self.wire, 2).await;
                fail(self.wire, tasks.iter().find(|task| task.execution_id == self.member("a")).unwrap()).await;
            }
            Stand::Ended => {
                for _ in 0..3 {
                    complete(self.wire, &claim(self.wire, 1).await[0]).await;
                }
            }
            Stand::Cancelled => {
                let (flow_id, policy) = (self.flow_id, CancelPolicy::CancelAll);
                let args = CancelFlowArgs { flow_id, policy, reason: None, requested_by: None };
                ff_cancel_flow(self.wire, &ONE_PARTITION, args).await.unwrap();
            }
            _ => {}
        }
    }

    async fn hold(&mut self, stand: Stand) {
        let tasks = claim(self.wire, 2).await;
        let execution_id = self.member("a");
        self.fence = tasks.iter().find(|task| task.execution_id == execution_id).unwrap().fence;
        if matches!(stand, Stand::Revoked | Stand::HeldByAnother) {
            let args = RevokeArgs { execution_id, lease_id: None, reason: None };
            ff_revoke_lease(self.wire, args).await.unwrap();
        }
        match stand {
            Stand::HeldByAnother => assert_eq!(claim(self.wire, 1).await.len(), 1),
            Stand::RanOut => self.wire.advance(LEASE_TTL_MS).await,
            _ => {}
        }
    }

    /// Returns the key of the flow's record.
    pub(crate) fn core(&self) -> String {
        FlowKeyContext::new(&flow_partition(&self.flow_id, &ONE_PARTITION), &self.flow_id).core()
    }

    pub(crate) fn member(&self, name: &str) -> ExecutionId {
        member_id(&self.flow_id, &node(name), &ONE_PARTITION)
    }

    pub(crate) fn edge(&self, from: &str, to: &str) -> EdgeId {
        edge_id(&self.flow_id, &self.member(from), &self.member(to))
    }

    /// Encodes a node as the functions take it.
    pub(crate) fn node_items(&self, name: &str) -> Vec<Bytes> {
        let id = self.member(name).to_string();
        let texts = [&id, name, "default", "work", "1", "0123456789abcdef", "", "0", "", "", "", "", "", "all_of", ""];
        texts.iter().chain(&["", "0"]).map(|text| Bytes::copy_from_slice(text.as_bytes())).collect()
    }

    /// Encodes an edge as the functions take it.
    pub(crate) fn edge_items(&self, from: &ExecutionId, to: &ExecutionId) -> Vec<Bytes> {
        let id = edge_id(&self.flow_id, from, to);
        [id.to_string(), from.to_string(), to.to_string(), String::new(), String::new(), "from->to".into()]
            .map(Bytes::from)
            .to_vec()
    }

    /// Encodes an edge between two nodes, likewise.
    pub(crate) fn between(&self, from: &str, to: &str) -> Vec<Bytes> {
        self.edge_items(&self.member(from), &self.member(to))
    }

    /// Encodes a join as the functions take it.
    pub(crate) fn join_items(&self, of: &ExecutionId, variant: &str, k: &str) -> Vec<Bytes> {
        let texts = [&of.to_string(), "node", variant, k, "let_run"];
        texts.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect()
    }

    pub(crate) async fn state(&self, name: &str) -> PublicState {
        let core = exec_core(&self.member(name));
        let word: String = self.wire.ask(cmd("HGET").arg(core).arg("public_state")).await;
        word.parse().unwrap()
    }
}

pub(crate) fn exec_core(id: &ExecutionId) -> String {
    ExecKeyContext::new(&Partition::of(id), id).core()
}
