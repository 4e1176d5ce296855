//! Adding members and edges to a flow. A refusal names the node or the edge at fault.

use std::collections::BTreeSet;

use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptSlot, Blocker, Execution, Origin, Phase};
use crate::flow::contracts::NodeSpec;
use crate::flow::step::Step;
use crate::flow::{Edge, EdgeState, Flow, Group, GroupState, Join, Membership, PassMode, edge_id, member_id};
use crate::lane::LaneTerms;
use crate::partition::PartitionConfig;
use crate::rule::change::{Change, Write};
use crate::rule::view::{Stop, require_all};
use crate::types::{ExecutionId, FlowId};
use crate::{lane, limits};

/// A new edge whose ends are resolved to executions.
pub(in crate::flow) struct ResolvedEdge {
    pub(in crate::flow) upstream: ExecutionId,
    pub(in crate::flow) downstream: ExecutionId,
    pub(in crate::flow) passes: Option<PassMode>,
    /// The edge as the caller named it, for refusals.
    pub(in crate::flow) name: String,
}

/// The conditions on a new edge, depending on how it is added.
#[derive(Clone, Copy)]
pub(in crate::flow) enum EdgeRule {
    /// In a submission: the edge goes from an earlier member to a later one, which rules out cycles. No member runs yet.
    Ordered,
    /// In a live flow: the edge closes no cycle, and its downstream has not started, unless the caller holds the
    /// downstream.
    Live { holder: Option<ExecutionId> },
}

/// The origin of new members.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::flow) enum MemberOrigin {
    /// A submission. A draining lane accepts none of its members.
    Submitted,
    /// A running member. Its children are part of its own work, which cannot end without them, so a draining lane
    /// accepts them.
    Children,
}

impl Step<'_> {
    /// Adds members. A member with edges into it, or in a staged flow, is blocked; any other is ready or delayed.
    pub(in crate::flow) fn add_nodes(
        &mut self,
        flow: &FlowId,
        nodes: &[NodeSpec],
        entered: &BTreeSet<ExecutionId>,
        config: &PartitionConfig,
        newcomers: MemberOrigin,
    ) -> Result<Vec<ExecutionId>, Stop> {
        let ids: Vec<_> = nodes.iter().map(|node| member_id(flow, &node.name, config)).collect();
        let namespace = self.flow(flow)?.namespace.clone();
        let partition = self.flow(flow)?.partition;
        let lanes: BTreeSet<_> = nodes.iter().map(|node| node.lane.within(&namespace)).collect();
        let lanes = lanes.iter().map(|lane| self.view.lane(partition, lane).map(drop));
        require_all(ids.iter().map(|id| self.view.execution(id).map(drop)).chain(lanes))?;
        for (node, id) in nodes.iter().zip(&ids) {
            let lane = (&namespace, &node.lane);
            let terms = match newcomers {
                MemberOrigin::Submitted => {
                    lane::admit(self.view, partition, lane, || format!("nodes.{}.lane", node.name))?
                }
                MemberOrigin::Children => LaneTerms::of(self.view, partition, lane)?,
            };
            lane::check_class(self.view, partition, lane, &node.policy.class())?;
            self.add_node(flow, node, *id, entered.contains(id), terms)?;
        }
        Ok(ids)
    }

    fn add_node(
        &mut self,
        flow: &FlowId,
        node: &NodeSpec,
        id: ExecutionId,
        entered: bool,
        terms: LaneTerms<'_>,
    ) -> Result<(), Stop> {
        if self.execution(&id)?.is_some() {
            let refusal = Code::ExecutionAlreadyInFlow.refusal().at(format!("nodes.{}", node.name));
            return Err(refusal.because("is a member of the flow already").into());
        }
        let namespace = self.flow(flow)?.namespace.clone();
        let mut after = terms.apply(crate::execution::create(&node.work(&namespace), id, self.now));
        let record = &mut self.flow_change(flow)?.after;
        after.trace = record.trace.clone();
        after.membership = Some(Box::new(Membership::new(*flow, node.name.clone(), record.nodes)));
        record.nodes += 1;
        record.payload_bytes += after.payload_bytes;
        record.retention_ms = record.retention_ms.max(Some(after.retention_ms()));
        check_limit(Code::LimitExceeded, "nodes", limits::FLOW_NODES as u64, record.nodes.into())?;
        check_limit(Code::PayloadTooLarge, "nodes", limits::FLOW_BYTES as u64, record.payload_bytes)?;
        let until = match after.phase {
            Phase::Delayed { until, .. } => Some(until),
            _ => None,
        };
        if record.staging.is_some() {
            after.phase = Phase::Blocked { on: Blocker::Staging, until };
        } else if entered {
            after.phase = Phase::Blocked { on: Blocker::Dependencies, until };
        }
        if node.join != Join::AllOf {
            self.put_group(Group::new(*flow, id, node.join))?;
        }
        let mut change = Change::of(after);
        change.payload = Write::Put(node.payload.clone());
        change.events.push(Event::new(&id, self.now, EventKind::Submitted));
        self.write(change)
    }

    /// Adds edges. An edge from an upstream that has ended is settled at once.
    pub(in crate::flow) fn add_edges(
        &mut self,
        flow: &FlowId,
        edges: &[ResolvedEdge],
        accepts: EdgeRule,
    ) -> Result<(), Stop> {
        let ends = || edges.iter().flat_map(|edge| [&edge.upstream, &edge.downstream]);
        let executions = ends().map(|id| self.view.execution(id).map(|_| ()));
        let groups = ends().map(|id| self.view.group(id).map(|_| ()));
        let known = edges.iter().map(|edge| edge_id(flow, &edge.upstream, &edge.downstream));
        let known = known.map(|id| self.view.edge(flow, &id).map(|_| ()));
        require_all(executions.chain(groups).chain(known))?;
        let mut added = Vec::new();
        for edge in edges {
            self.add_edge(flow, edge, accepts, &added)?;
            added.push((edge.upstream, edge.downstream));
        }
        for edge in edges {
            self.settle_new(flow, edge)?;
        }
        Ok(())
    }

    fn add_edge(
        &mut self,
        flow: &FlowId,
        new: &ResolvedEdge,
        accepts: EdgeRule,
        added: &[(ExecutionId, ExecutionId)],
    ) -> Result<(), Stop> {
        let field = format!("edges.{}", new.name);
        let refused = |code: Code, why: &str| Stop::from(code.refusal().at(field.clone()).because(why));
        if new.upstream == new.downstream {
            return Err(refused(Code::SelfReferencingEdge, "must enter another node than it leaves"));
        }
        let upstream = self.member(flow, &new.upstream, &field)?;
        let downstream = self.member(flow, &new.downstream, &field)?;
        let id = edge_id(flow, &new.upstream, &new.downstream);
        if self.edge(flow, &id)?.is_some() {
            return Err(refused(Code::DependencyAlreadyExists, "is there already"));
        }
        let held = matches!(accepts, EdgeRule::Live { holder: Some(holder) } if holder == new.downstream);
        match accepts {
            EdgeRule::Ordered if position(&upstream) >= position(&downstream) => {
                return Err(refused(Code::CycleDetected, "must go from an earlier node to a later one"));
            }
            EdgeRule::Ordered => {}
            EdgeRule::Live { .. } if !held && !downstream.has_not_started() => {
                let state = downstream.public_state();
                let refusal = Code::NotRunnable.refusal().at(field).in_state(state);
                return Err(refusal.because(format!("enters a node that has started, and is {state}")).into());
            }
            EdgeRule::Live { .. } => self.check_no_cycle(flow, new, added, &field)?,
        }
        let mut group = self.group(&new.downstream)?.unwrap_or(Group::new(*flow, new.downstream, Join::AllOf));
        if held && (group.round == 0 || group.state != GroupState::Pending) {
            group.begin_round();
        }
        if new.passes == Some(PassMode::Payload) && std::mem::replace(&mut group.passes_payload, true) {
            return Err(second_payload(&field).into());
        }
        // A new edge makes the join pending again.
        group.state = GroupState::Pending;
        group.fired_at = None;
        group.n += 1;
        let leaving = upstream.membership.as_ref().map_or(0, |membership| membership.dependents) + 1;
        let record = &mut self.flow_change(flow)?.after;
        record.edges += 1;
        let edges = record.edges;
        check_limit(Code::LimitExceeded, "edges", limits::FLOW_EDGES as u64, edges.into())?;
        check_limit(Code::LimitExceeded, format!("{field}.downstream"), limits::NODE_EDGES as u64, group.n.into())?;
        check_limit(Code::LimitExceeded, format!("{field}.upstream"), limits::NODE_EDGES as u64, leaving.into())?;
        self.put_group(group)?;
        self.add(Edge {
            id,
            flow_id: *flow,
            upstream_execution_id: new.upstream,
            downstream_execution_id: new.downstream,
            passes: new.passes.clone(),
            round: group.round,
            state: EdgeState::Pending,
            passed_bytes: None,
        })?;
        self.amend(&new.upstream, |membership| membership.dependents = leaving)
    }

    /// Settles a new edge whose upstream has ended.
    fn settle_new(&mut self, flow: &FlowId, new: &ResolvedEdge) -> Result<(), Stop> {
        let Some(upstream) = self.execution(&new.upstream)?.cloned() else { return Ok(()) };
        let Phase::Finished { outcome, .. } = upstream.phase else { return Ok(()) };
        let id = edge_id(flow, &new.upstream, &new.downstream);
        let Some(edge) = self.edge(flow, &id)?.cloned() else { return Ok(()) };
        self.count(edge, outcome.into(), upstream.membership.and_then(|membership| membership.result_bytes))
    }

    /// Returns a member of this flow. An execution of another flow gets the same refusal as one that does not exist,
    /// because it may belong to another tenant.
    pub(in crate::flow) fn member(&self, flow: &FlowId, id: &ExecutionId, field: &str) -> Result<Execution, Stop> {
        let is_member =
            |execution: &&Execution| execution.membership.as_ref().is_some_and(|place| place.flow_id == *flow);
        let Some(member) = self.execution(id)?.filter(is_member) else {
            let refusal = Code::ExecutionNotInFlow.refusal().at(field);
            return Err(refusal.because("must name a node of the flow").into());
        };
        Ok(member.clone())
    }
}

impl Flow {
    /// Refuses a change of a flow that is staged, has ended or is cancelled.
    pub(in crate::flow) fn check_live(&self) -> Result<(), Refusal> {
        if self.staging.is_some() {
            return Err(Code::FlowNotFound.refusal());
        }
        let state = self.state();
        if state.is_terminal() {
            return Err(Code::FlowAlreadyTerminal.refusal().because(format!("the flow is {state}")));
        }
        Ok(())
    }
}

impl Execution {
    /// Returns whether no attempt was made since the submission or the last replay, so that new edges may still block
    /// the execution.
    fn has_not_started(&self) -> bool {
        let before_its_first = matches!(self.attempt, AttemptSlot::Next(Origin::Initial | Origin::Replay { .. }));
        let idle = matches!(self.phase, Phase::Waiting | Phase::Delayed { .. } | Phase::Blocked { .. });
        before_its_first && idle
    }
}

fn position(member: &Execution) -> u32 {
    member.membership.as_ref().map_or(0, |membership| membership.position)
}

/// Returns the refusal of a second edge that passes the payload into a node. A node has one payload, so at most one
/// edge can supply it.
pub(in crate::flow) fn second_payload(field: &str) -> Refusal {
    let why =
        "passes payload, as another edge into the same node does; one edge may, and the others pass {input: NAME}";
    Refusal::invalid(field, why)
}
