//! The steps of a walk that have to do with flows.

use ff_core::contracts::{
    CancelArgs, CancelFlowArgs, CascadeArgs, ClaimArgs, CloseFlowArgs, CompleteArgs, CreateFlowArgs, EdgeSpec,
    FlowHeader, GrowFlowArgs, GrownEdge, Input, MemberRef, NodeSpec, PumpArgs, ReplayArgs, SetFlowTagsArgs,
    StageFlowArgs, SubmitFlowArgs, Task, WaitForChildrenArgs,
};
use ff_core::flow::{CancelPolicy, Join, OnSatisfied, Passing};
use ff_core::lease::Fence;
use ff_core::operation::{Ask, Operation};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, FlowId, InputName, Kind, Namespace, NodeName, TagKey, TagValue};
use uuid::Uuid;

use super::walk::Walk;

/// The flows a walk has to do with.
#[derive(Default)]
pub(super) struct Graphs {
    ids: Vec<FlowId>,
    /// The parts of the last large one.
    parts: Vec<StageFlowArgs>,
    next_part: usize,
    added: usize,
}

impl Walk {
    /// A step of a walk among flows: graphs come, their members run and end, and the graphs change meanwhile.
    pub(super) fn flow(&mut self) -> Operation {
        let (Some(member), Some(other)) = (self.member(), self.member()) else { return self.graph() };
        let Some(flow_id) = self.flow_of(member) else { return self.graph() };
        match (self.pick(60), self.running()) {
            (0..=11, _) => ClaimArgs { kinds: vec![], ..self.claim() }.into_operation(),
            (12..=25, Some((execution_id, fence))) => {
                let result = (self.pick(3) > 0).then(|| Payload::json(self.pick(9).to_string()));
                CompleteArgs { execution_id, fence, result }.into_operation()
            }
            (26..=28, Some((execution_id, fence))) => self.failure(execution_id, fence).into_operation(),
            (29, _) => CancelArgs { execution_id: member, reason: None, requested_by: None }.into_operation(),
            (30..=32, _) => self.graph(),
            (33..=36, _) => self.part(),
            (37, _) => CreateFlowArgs { header: self.header() }.into_operation(),
            (38..=41, _) => self.growth(flow_id, member, other).into_operation(),
            (42, _) => {
                let edges = vec![self.edge(MemberRef::Execution(member), MemberRef::Execution(other))];
                GrowFlowArgs { edges, ..GrowFlowArgs::new(flow_id) }.into_operation()
            }
            (43 | 44, Some(holder)) => self.children(holder).into_operation(),
            (45 | 46, Some((execution_id, fence))) => WaitForChildrenArgs { execution_id, fence }.into_operation(),
            (47, _) => CloseFlowArgs { flow_id }.into_operation(),
            (48, _) => {
                let tag = TagValue::parse(&self.pick(3).to_string()).unwrap();
                SetFlowTagsArgs { flow_id, tags: [(TagKey::parse("team").unwrap(), tag)].into() }.into_operation()
            }
            (49, _) if self.pick(2) == 0 => {
                let policy = *self.one(CancelPolicy::ALL).unwrap();
                CancelFlowArgs { flow_id, policy, reason: None, requested_by: None }.into_operation()
            }
            (50, _) => CascadeArgs { execution_id: member, owed_since: None }.into_operation(),
            (51..=55, _) => {
                let (reason, requested_by, reopen_downstream) = (None, None, self.pick(2) == 0);
                ReplayArgs { execution_id: member, reason, requested_by, reopen_downstream }.into_operation()
            }
            _ => PumpArgs { partition: self.partition() }.into_operation(),
        }
    }

    /// What the worker of a task is handed of what others passed on.
    pub(super) fn inputs(&self, task: &Task) -> Vec<Input> {
        let Some(flow) = task.flow.as_ref().filter(|flow| flow.inputs > 0) else { return Vec::new() };
        let edges = self.model.edges_after(&flow.flow_id, None);
        let into = edges.filter(|edge| edge.downstream_execution_id == task.execution_id);
        Input::handed(into, |upstream| self.model.result(upstream).cloned())
    }

    /// The first part of a new graph. One in a few is too large for one part.
    fn graph(&mut self) -> Operation {
        let large = self.pick(16) == 0;
        let count = if large { 210 + self.pick(60) } else { 1 + self.pick(7) };
        let mut nodes: Vec<_> = (0..count).map(|_| self.node()).collect();
        let mut edges = Vec::new();
        for to in 1..nodes.len() {
            let close = if large { 2.min(to) } else { to };
            let upstreams: Vec<_> =
                (to - close..to).chain((large && to > close).then_some(0)).filter(|_| self.pick(3) == 0).collect();
            nodes[to].join = self.join(upstreams.len());
            let mut injected = false;
            edges.extend(upstreams.into_iter().map(|from| EdgeSpec {
                upstream: nodes[from].name.clone(),
                downstream: nodes[to].name.clone(),
                passes: self.passing(&nodes[from].name, &mut injected),
            }));
        }
        let header = self.header();
        let mut parts = SubmitFlowArgs { header, nodes, edges }.plan().unwrap();
        if parts.len() > 1 {
            (self.graphs.parts, self.graphs.next_part) = (parts.clone(), 1);
        }
        parts.remove(0).into_operation()
    }

    /// The next part of the last large graph, or one that may have come before.
    fn part(&mut self) -> Operation {
        let again = self.pick(3) == 0;
        let next = self.graphs.parts.get(self.graphs.next_part);
        let part = if again { self.one(&self.graphs.parts) } else { next }.cloned();
        self.graphs.next_part += usize::from(!again);
        part.map_or(PumpArgs { partition: self.partition() }.into_operation(), Ask::into_operation)
    }

    fn growth(&mut self, flow_id: FlowId, from: ExecutionId, to: ExecutionId) -> GrowFlowArgs {
        let new = self.node();
        let by_name = MemberRef::Node(new.name.clone());
        let mut edges = vec![self.edge(MemberRef::Execution(from), by_name.clone())];
        if self.pick(3) == 0 {
            edges.push(self.edge(by_name, MemberRef::Execution(to)));
        }
        GrowFlowArgs { nodes: vec![new], edges, idempotency_key: self.idempotency(), ..GrowFlowArgs::new(flow_id) }
    }

    /// A holder adds children to wait for.
    fn children(&mut self, holder: (ExecutionId, Fence)) -> GrowFlowArgs {
        let nodes: Vec<_> = (0..=self.pick(2)).map(|_| self.node()).collect();
        let onto = |node: &NodeSpec| self.edge(MemberRef::Node(node.name.clone()), MemberRef::Execution(holder.0));
        let edges = nodes.iter().map(onto).collect();
        let nobody = FlowId::from_uuid(Uuid::nil());
        let flow_id = self.flow_of(holder.0).unwrap_or(nobody);
        GrowFlowArgs { nodes, edges, holder: Some(holder), ..GrowFlowArgs::new(flow_id) }
    }

    fn header(&mut self) -> FlowHeader {
        let flow_id = FlowId::from_uuid(Uuid::from_u128(u128::from(self.pick(1_000_000)) << 64));
        self.graphs.ids.push(flow_id);
        let namespace = Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap();
        FlowHeader { flow_id, namespace, ..FlowHeader::new(Kind::parse("etl").unwrap()) }
    }

    fn node(&mut self) -> NodeSpec {
        self.graphs.added += 1;
        let work = self.submission();
        let name = NodeName::parse(&format!("n{}", self.graphs.added)).unwrap();
        let start = work.start;
        NodeSpec { policy: work.policy, start, ..NodeSpec::new(name, work.kind, work.payload) }
    }

    fn join(&self, upstreams: usize) -> Join {
        let on_satisfied = *self.one(OnSatisfied::ALL).unwrap();
        match self.pick(4) {
            0 if upstreams > 0 => Join::AnyOf { on_satisfied },
            1 if upstreams > 0 => {
                let k = 1 + u32::try_from(self.pick(upstreams as u64)).unwrap();
                Join::Quorum { k, on_satisfied }
            }
            _ => Join::AllOf,
        }
    }

    fn edge(&self, upstream: MemberRef, downstream: MemberRef) -> GrownEdge {
        let passes = (self.pick(3) == 0).then_some(Passing::Payload);
        GrownEdge { upstream, downstream, passes }
    }

    /// What an edge passes on; the payload, as long as no other edge into the same node does.
    fn passing(&self, from: &NodeName, injected: &mut bool) -> Option<Passing> {
        match self.pick(3) {
            0 if !std::mem::replace(injected, true) => Some(Passing::Payload),
            1 => Some(Passing::Input(InputName::parse(from.as_str()).unwrap())),
            _ => None,
        }
    }

    /// A member of one of the latest flows.
    fn member(&self) -> Option<ExecutionId> {
        let recent = self.graphs.ids.len().saturating_sub(4);
        let flow = self.one(&self.graphs.ids[recent..])?;
        let members: Vec<_> = self
            .model
            .executions()
            .map(|execution| execution.id)
            .filter(|id| self.flow_of(*id) == Some(*flow))
            .collect();
        self.one(&members).copied()
    }

    fn flow_of(&self, id: ExecutionId) -> Option<FlowId> {
        Some(self.model.find(&id)?.membership.as_ref()?.flow_id)
    }
}
