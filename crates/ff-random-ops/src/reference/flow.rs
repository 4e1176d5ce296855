//! Graphs and operations of the transitions about flows.

use super::{Call, Output, Reference, vocabulary};
use crate::prelude::*;
use crate::transition::{Growth, Link, Node, Pass, Plan, Policies, Submission, Transition};

impl Reference {
    /// Returns the operation of a transition about a flow.
    pub(super) fn flow_operation(&self, transition: &Transition) -> Operation {
        match transition {
            Transition::CreateFlow { flow, namespace, kind } => {
                Operation::CreateFlow(CreateFlowArgs { header: header(*flow, *namespace, *kind, 0) })
            }
            Transition::Grow(growth) => Operation::GrowFlow(self.growth(growth)),
            Transition::CloseFlow { flow } => Operation::CloseFlow(CloseFlowArgs { flow_id: flow_id(*flow) }),
            Transition::CancelFlow { flow, policy, reason } => Operation::CancelFlow(CancelFlowArgs {
                flow_id: flow_id(*flow),
                policy: *policy,
                reason: reason.map(vocabulary::text),
                requested_by: vocabulary::requester(&reason.map(vocabulary::text)),
            }),
            Transition::TagFlow { flow, from, count } => {
                Operation::SetFlowTags(SetFlowTagsArgs { flow_id: flow_id(*flow), tags: tags(*from, *count) })
            }
            Transition::Cascade { job } => {
                Operation::Cascade(CascadeArgs { execution_id: self.id(*job), pending_since: None })
            }
            other => unreachable!("{other:?} is not about a flow"),
        }
    }

    /// Returns the graph revision of the flow that an operation grows.
    pub(super) fn revision_grown_by(&self, operation: &Operation) -> Option<u64> {
        let Operation::GrowFlow(args) = operation else { return None };
        self.model.find_flow(&args.flow_id).map(|flow| flow.graph_revision)
    }

    /// Returns the graph revision of a flow.
    pub(crate) fn revision(&self, flow: u32) -> u64 {
        self.model.find_flow(&flow_id(flow)).map_or(0, |flow| flow.graph_revision)
    }

    /// Submits a graph to the model, part by part.
    pub(super) fn submit_flow(&mut self, args: &SubmitFlowArgs, nonce: Nonce) -> Result<Output, Refusal> {
        let mut last = None;
        let parts = args.clone().plan().inspect_err(|refusal| self.coverage.record(refusal.code.as_str()))?;
        for part in parts {
            last = Some(self.execute_work(&Operation::StageFlow(part), nonce)?.0);
        }
        Ok(Output::Reply(last.unwrap_or_else(|| unreachable!("a plan has a part"))))
    }

    /// Records the flow and the executions that a transition created.
    pub(super) fn note_flow(&mut self, transition: &Transition) {
        match transition {
            Transition::SubmitFlow(plan) => self.add_member(plan.flow, &plan.nodes),
            Transition::SubmitLargeFlow { flow, first, jobs, .. } => {
                self.add_member(*flow, &large_plan(*flow, *first, *jobs).nodes);
            }
            Transition::CreateFlow { flow, .. } => self.add_member(*flow, &[]),
            Transition::Grow(growth) => self.add_member(growth.flow, &growth.nodes),
            _ => {}
        }
    }

    fn add_member(&mut self, flow: u32, nodes: &[Node]) {
        self.flows.insert(flow_id(flow), flow);
        for node in nodes {
            let id = member_id(&flow_id(flow), &name(node.work.job), &self.partitions);
            self.ids.insert(node.work.job, id);
        }
    }

    /// Returns the number of a flow that the run created.
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
                .map(|link| EdgeAddition {
                    upstream: member(link.from),
                    downstream: member(link.to),
                    passes: passes(link.passes),
                })
                .collect(),
            holder: growth.holder.map(|(job, choice)| self.execution_and_fence(job, choice)),
            idempotency_key: growth.key.map(|nth| IdempotencyKey::parse(&format!("growth-{nth}")).unwrap()),
        }
    }
}

/// Returns the id of a flow.
pub(crate) fn flow_id(flow: u32) -> FlowId {
    FlowId::from_uuid(vocabulary::uuid(flow.wrapping_add(0x4000_0000)))
}

/// Returns the node name of a job, which is the same in every flow.
pub(crate) fn name(job: u32) -> NodeName {
    NodeName::parse(&format!("n{job}")).unwrap()
}

/// Returns the call that submits a large graph in several parts, or one of its parts. Every second node waits for the
/// first node, every third for the node before it, and every tenth needs only one of its upstreams.
pub(super) fn large(flow: u32, first: u32, jobs: u32, part: Option<usize>) -> Call {
    let args = graph_of(&large_plan(flow, first, jobs));
    let Some(part) = part else { return Call::SubmitFlow(args) };
    let mut parts = args.plan().unwrap();
    Call::One(Box::new(Operation::StageFlow(parts.swap_remove(part % parts.len()))))
}

fn large_plan(flow: u32, first: u32, jobs: u32) -> Plan {
    let link = |from: u32, to: u32| Link { from: first + from, to: first + to, passes: None };
    let mut edges: Vec<_> = (1..jobs).filter(|nth| nth % 2 == 0).map(|nth| link(0, nth)).collect();
    edges.extend((2..jobs).filter(|nth| nth % 3 == 0).map(|nth| link(nth - 1, nth)));
    let node = |nth: u32| Node {
        work: Submission {
            job: first + nth,
            namespace: 0,
            lane: 0,
            kind: 0,
            payload: 3,
            priority: 0,
            tags: 0,
            key: None,
            rule: None,
            start: Start::Now,
            policy: Policies::None,
        },
        join: match nth % 30 {
            0 | 10 | 20 if nth > 0 => Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining },
            _ => Join::AllOf,
        },
    };
    Plan { flow, namespace: 0, kind: 0, tags: 0, nodes: (0..jobs).map(node).collect(), edges }
}

/// Returns the arguments that submit a whole graph.
pub(crate) fn graph_of(plan: &Plan) -> SubmitFlowArgs {
    let edge = |link: &Link| EdgeSpec {
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

/// Returns the named inputs that a worker gets with its claim.
pub(crate) fn inputs_of(model: &Model, task: &Task) -> Vec<Input> {
    let Some(place) = &task.flow else { return vec![] };
    let (flow, member, side) = (place.flow_id, task.execution_id, Side::Incoming);
    let ids = model.edges(&EdgesOf { flow, member, side, after: None, limit: usize::MAX }).unwrap();
    let edges: Vec<&Edge> = ids.iter().filter_map(|id| model.edge(&flow, id).ok().flatten()).collect();
    Input::of_edges(edges, |upstream| model.result(upstream).cloned())
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

fn passing(pass: Pass) -> PassMode {
    match pass {
        Pass::Payload => PassMode::Payload,
        Pass::Input(nth) => PassMode::Input(InputName::parse(&format!("input-{nth}")).unwrap()),
    }
}

/// The value of every tag of a flow.
pub(crate) const FLOW_TAG: &str = "Zoë's: {1}";

fn tags(from: usize, count: usize) -> Tags {
    let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse(FLOW_TAG).unwrap());
    (from..from + count).map(tag).collect()
}
