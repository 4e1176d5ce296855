//! What steps about flows ask.

use ff_core::contracts::{
    CancelFlowArgs, CascadeArgs, CloseFlowArgs, CreateFlowArgs, EdgeSpec, FlowHeader, GrowFlowArgs, GrownEdge, Input,
    JoinSpec, MemberRef, NodeSpec, SetFlowTagsArgs, SubmitFlowArgs, Task, WaitForChildrenArgs,
};
use ff_core::dice::Nonce;
use ff_core::engine_error::Refusal;
use ff_core::execution::Tags;
use ff_core::flow::{Edge, Passing, member_id};
use ff_core::model::Model;
use ff_core::operation::Operation;
use ff_core::types::{FlowId, IdempotencyKey, InputName, NodeName, TagKey, TagValue};
use ff_core::view::{EdgesOf, Side, View};

use super::step::{Growth, Node, Pass, Plan};
use crate::differential::reference::Reference;
use crate::differential::step::Step;
use crate::differential::told::Word;
use crate::differential::vocabulary;

impl Reference {
    /// What a step about a flow that is there asks.
    pub(crate) fn flow_operation(&self, step: &Step) -> Operation {
        match step {
            Step::CreateFlow { flow, namespace, kind } => {
                Operation::CreateFlow(CreateFlowArgs { header: header(*flow, *namespace, *kind, 0) })
            }
            Step::Grow(growth) => Operation::GrowFlow(self.growth(growth)),
            Step::CloseFlow { flow } => Operation::CloseFlow(CloseFlowArgs { flow_id: flow_id(*flow) }),
            Step::CancelFlow { flow, policy, reason } => Operation::CancelFlow(CancelFlowArgs {
                flow_id: flow_id(*flow),
                policy: *policy,
                reason: reason.map(vocabulary::text),
                requested_by: None,
            }),
            Step::TagFlow { flow, from, count } => {
                Operation::SetFlowTags(SetFlowTagsArgs { flow_id: flow_id(*flow), tags: tags(*from, *count) })
            }
            Step::WaitForChildren { job, fence } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::WaitForChildren(WaitForChildrenArgs { execution_id, fence })
            }
            Step::Cascade { job } => Operation::Cascade(CascadeArgs { execution_id: self.id(*job), owed_since: None }),
            other => unreachable!("{other:?} is not about a flow"),
        }
    }

    /// How often the graph of a flow has changed.
    pub(crate) fn revision(&self, flow: u32) -> u64 {
        self.model.find_flow(&flow_id(flow)).map_or(0, |flow| flow.graph_revision)
    }

    /// Submits a graph to the model, part after part.
    pub(crate) fn submit(&mut self, plan: &Plan, nonce: Nonce) -> Result<Word, Refusal> {
        let mut told = None;
        for part in submission(plan).plan()? {
            told = Some(self.perform(&Operation::StageFlow(part), nonce)?);
        }
        self.enrol(plan.flow, &plan.nodes);
        Ok(told.unwrap_or_else(|| unreachable!("a plan has a part")))
    }

    /// Remembers which flow and which executions a step has made.
    pub(crate) fn note_flow(&mut self, step: &Step, told: &Result<Word, Refusal>) {
        match (step, told) {
            (Step::CreateFlow { flow, .. }, Ok(_)) => self.enrol(*flow, &[]),
            (Step::Grow(growth), Ok(_)) => self.enrol(growth.flow, &growth.nodes),
            _ => {}
        }
    }

    fn enrol(&mut self, flow: u32, nodes: &[Node]) {
        self.flows.insert(flow_id(flow), flow);
        for node in nodes {
            let id = member_id(&flow_id(flow), &name(node.work.job), &self.partitions);
            self.know(node.work.job, id);
        }
    }

    /// The number of a flow that is there.
    pub(crate) fn flow_number(&self, id: &FlowId) -> Option<u32> {
        self.flows.get(id).copied()
    }

    fn growth(&self, growth: &Growth) -> GrowFlowArgs {
        let member = |job: u32| match growth.by_id {
            true => MemberRef::Execution(self.id(job)),
            false => MemberRef::Node(name(job)),
        };
        let revision = self.revision(growth.flow);
        let passes = |pass: Option<Pass>| pass.map(passing);
        GrowFlowArgs {
            flow_id: flow_id(growth.flow),
            expected_graph_revision: growth.revision.map(|off| revision.saturating_add_signed(off)),
            nodes: growth.nodes.iter().map(node).collect(),
            joins: growth.joins.iter().map(|(job, join)| JoinSpec { member: member(*job), join: *join }).collect(),
            edges: growth
                .edges
                .iter()
                .map(|link| GrownEdge {
                    upstream: member(link.from),
                    downstream: member(link.to),
                    passes: passes(link.passes),
                })
                .collect(),
            holder: growth.holder.map(|(job, whose)| self.held(job, whose)),
            idempotency_key: growth.key.map(|nth| IdempotencyKey::parse(&format!("growth-{nth}")).unwrap()),
        }
    }
}

/// The id of a flow.
pub(super) fn flow_id(flow: u32) -> FlowId {
    FlowId::from_uuid(vocabulary::uuid(flow.wrapping_add(0x4000_0000)))
}

/// What a job is called in whichever flow.
pub(super) fn name(job: u32) -> NodeName {
    NodeName::parse(&format!("n{job}")).unwrap()
}

/// What a whole graph is submitted with.
pub(super) fn submission(plan: &Plan) -> SubmitFlowArgs {
    let edge = |link: &super::Link| EdgeSpec {
        upstream: name(link.from),
        downstream: name(link.to),
        passes: link.passes.map(passing),
    };
    SubmitFlowArgs {
        header: header(plan.flow, plan.namespace, plan.kind, plan.tags),
        nodes: plan.nodes.iter().map(node).collect(),
        edges: plan.edges.iter().map(edge).collect(),
    }
}

/// The named inputs a worker is handed with its claim.
pub(crate) fn inputs_of(model: &Model, task: &Task) -> Vec<Input> {
    let Some(place) = &task.flow else { return vec![] };
    let (flow, member, side) = (place.flow_id, task.execution_id, Side::Incoming);
    let ids = model.edges(&EdgesOf { flow, member, side, after: None, limit: usize::MAX }).unwrap();
    let edges: Vec<&Edge> = ids.iter().filter_map(|id| model.edge(&flow, id).ok().flatten()).collect();
    Input::handed(edges, |upstream| model.result(upstream).cloned())
}

fn header(flow: u32, namespace: u8, kind: u8, count: usize) -> FlowHeader {
    FlowHeader {
        flow_id: flow_id(flow),
        idempotency_key: None,
        namespace: vocabulary::namespace(namespace),
        kind: vocabulary::kind(kind),
        tags: tags(0, count),
        trace: vocabulary::trace(flow),
    }
}

fn node(node: &Node) -> NodeSpec {
    let work = vocabulary::submit_args(&node.work);
    NodeSpec {
        name: name(node.work.job),
        lane: work.lane,
        kind: work.kind,
        payload: work.payload,
        priority: work.priority,
        tags: work.tags,
        start: work.start,
        policy: work.policy,
        join: node.join,
    }
}

fn passing(pass: Pass) -> Passing {
    match pass {
        Pass::Payload => Passing::Payload,
        Pass::Input(nth) => Passing::Input(InputName::parse(&format!("input-{nth}")).unwrap()),
    }
}

fn tags(from: usize, count: usize) -> Tags {
    let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
    (from..from + count).map(tag).collect()
}
