//! Every move from every state of a small flow, breadth first: members are claimed, ended, cancelled and replayed, the
//! flow is cancelled and grown, and pending work is done.

use std::fmt::Write;

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::contracts::{
    CancelArgs, CancelFlowArgs, CompleteArgs, EdgeAddition, EdgeSpec, FailArgs, FlowHeader, GrowFlowArgs, MemberRef,
    NodeSpec, PumpArgs, ReplayArgs, SubmitFlowArgs,
};
use ff_core::execution::{AttemptSlot, Failure, Phase};
use ff_core::flow::{CancelPolicy, Join, OnSatisfied};
use ff_core::lease::Fence;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{ExecutionId, FlowId, Kind, NodeName, TimestampMs};
use ff_random_ops::laws::{Step, answers_again, healthy, lawful};
use uuid::Uuid;

use super::{Search, World};
use crate::{PARTITIONS, claim};

/// Two upstreams of a join that cancels, one of which has another dependent, and a dependent of the join.
const SMALL_FLOW: &[(&str, &str)] = &[("a", "c"), ("b", "c"), ("b", "d"), ("c", "e")];

const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

#[derive(Clone)]
pub(crate) struct FlowWorld(Model);

impl FlowWorld {
    /// Creates the world with the small flow submitted.
    pub(crate) fn new() -> Self {
        let (mut model, entropy) = (Model::default(), SeededEntropy::new(0));
        for part in small(SMALL_FLOW).plan().expect("a graph without a fault") {
            let at = Conditions { partitions: PARTITIONS, nonce: entropy.nonce(), now: NOW };
            model.execute(&Operation::StageFlow(part), &at).expect("a flow");
        }
        Self(model)
    }
}

impl World for FlowWorld {
    type Identity = String;
    type Move = Operation;

    fn identity(&self) -> String {
        identity(&self.0)
    }

    fn moves(&self) -> Vec<Operation> {
        operations(&self.0)
    }

    fn take(&self, operation: &Operation, search: &mut Search) -> Result<Option<Self>, String> {
        let at = search.conditions(PARTITIONS, NOW);
        let step = Step::decide(&self.0, operation, at);
        lawful(&step)?;
        let mut next = self.clone();
        if let Ok(decision) = step.decided {
            let reply = next.0.write(decision);
            answers_again(&next.0, operation, &reply, at)?;
        }
        healthy(&next.0, 0, NOW)?;
        Ok(Some(next))
    }
}

/// Returns every possible operation, always in the same order.
fn operations(model: &Model) -> Vec<Operation> {
    let mut operations = vec![Operation::Claim(claim(0, 1)), Operation::Pump(PumpArgs { partition: 0 })];
    for execution in model.executions() {
        let execution_id = execution.id;
        operations.push(Operation::Cancel(CancelArgs { execution_id, reason: None, requested_by: None }));
        if execution.is_finished() {
            operations.extend([true, false].map(|reopen_downstream| {
                Operation::Replay(ReplayArgs { reopen_downstream, ..ReplayArgs::new(execution_id) })
            }));
        }
        if let Phase::Running { lease } = &execution.phase {
            operations.extend(by_holder(execution_id, lease.fence));
        }
    }
    for policy in CancelPolicy::ALL {
        let (flow_id, policy) = (flow_id(), *policy);
        operations.push(Operation::CancelFlow(CancelFlowArgs { flow_id, policy, reason: None, requested_by: None }));
    }
    let edge = EdgeAddition { upstream: by_name("a"), downstream: by_name("new"), passes: None };
    operations.push(Operation::GrowFlow(GrowFlowArgs {
        nodes: vec![node("new")],
        edges: vec![edge],
        ..GrowFlowArgs::new(flow_id())
    }));
    operations
}

fn by_holder(execution_id: ExecutionId, fence: Fence) -> [Operation; 2] {
    let failure = Failure { category: Kind::parse("error").expect("a name"), message: "no".into(), permanent: true };
    [
        Operation::Complete(CompleteArgs { execution_id, fence, result: None }),
        Operation::Fail(FailArgs { execution_id, fence, failure }),
    ]
}

fn small(edges: &[(&str, &str)]) -> SubmitFlowArgs {
    let mut nodes: Vec<_> = ["a", "b", "c", "d", "e"].map(node).into();
    nodes[2].join = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
    let name = |text: &str| NodeName::parse(text).expect("a name");
    let edge = |(from, to): &(&str, &str)| EdgeSpec { upstream: name(from), downstream: name(to), passes: None };
    let header = FlowHeader { flow_id: flow_id(), ..FlowHeader::new(Kind::parse("etl").expect("a name")) };
    SubmitFlowArgs { header, nodes, edges: edges.iter().map(edge).collect() }
}

fn node(text: &str) -> NodeSpec {
    let policy = Policy { max_replay_count: 1, ..Policy::default() };
    let kind = Kind::parse("work").expect("a name");
    NodeSpec { policy, ..NodeSpec::new(NodeName::parse(text).expect("a name"), kind, Payload::json("1")) }
}

fn by_name(text: &str) -> MemberRef {
    MemberRef::Node(NodeName::parse(text).expect("a name"))
}

fn flow_id() -> FlowId {
    FlowId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001))
}

/// Identifies a state. Two states are equal exactly when the rules cannot distinguish them.
fn identity(model: &Model) -> String {
    let mut same = String::new();
    for execution in model.executions() {
        let phase = match &execution.phase {
            Phase::Blocked { on, .. } => format!("{on:?}"),
            _ => execution.public_state().to_string(),
        };
        let open = matches!(execution.attempt, AttemptSlot::Open(_));
        let propagation = execution
            .membership
            .as_ref()
            .map(|m| (m.pending_propagation.is_some(), m.siblings.is_some(), m.dependents));
        write!(same, "{} {phase} {open} {} {propagation:?};", execution.id, execution.replays).expect("a text");
    }
    let snapshot = model.snapshot(0);
    for group in snapshot.groups.values() {
        let counts = (group.n, group.succeeded, group.failed, group.skipped, group.round);
        write!(same, "{} {counts:?};", group.state).expect("a text");
    }
    snapshot.edges.values().for_each(|edge| write!(same, "{};", edge.state).expect("a text"));
    for flow in snapshot.flows.values() {
        let cancel = flow.cancel.as_ref().map(|cancel| cancel.policy);
        write!(same, "{} {cancel:?} {}", flow.state(), flow.ended_at.is_some()).expect("a text");
    }
    same
}
