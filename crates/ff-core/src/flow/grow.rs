//! Growing a live flow by members and edges: all of them, or none.

use std::collections::BTreeSet;

use super::contracts::{EdgeAddition, JoinSpec, MemberRef, NodeSpec, check_call};
use super::graph::{EdgeRule, MemberOrigin, ResolvedEdge};
use super::record::GrownFlow;
use super::{FlowEventKind, FlowKeyEntry, Group, GroupState, Join, Step, edge_id, member_id};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{Blocker, Phase};
use crate::lease::Fence;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, flow_partition};
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, FlowId, IdempotencyKey};

/// A request to add members and edges to a live flow: all of them, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowFlowArgs {
    pub flow_id: FlowId,
    /// The call is refused if the graph has another revision. Not checked when absent.
    pub expected_graph_revision: Option<u64>,
    pub nodes: Vec<NodeSpec>,
    pub joins: Vec<JoinSpec>,
    pub edges: Vec<EdgeAddition>,
    /// The running member that makes the call. Only its holder may add edges into it, to wait for its children.
    pub holder: Option<(ExecutionId, Fence)>,
    /// A repeated call with this key returns the first answer.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl GrowFlowArgs {
    /// Returns a request without additions.
    pub fn new(flow_id: FlowId) -> Self {
        Self {
            flow_id,
            expected_graph_revision: None,
            nodes: vec![],
            joins: vec![],
            edges: vec![],
            holder: None,
            idempotency_key: None,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        if self.nodes.is_empty() && self.edges.is_empty() {
            return Err(Refusal::invalid("nodes", "must contain at least one node, or edges at least one edge"));
        }
        check_call(&self.nodes, self.edges.len())?;
        check_limit(Code::LimitExceeded, "joins", limits::FLOW_CALL_NODES, self.joins.len())?;
        self.joins.iter().try_for_each(|spec| spec.join.check(&format!("joins.{}", spec.member)))
    }
}

impl Command for GrowFlowArgs {
    type Reply = GrownFlow;
    const SETTLES_FLOWS: bool = true;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.flow_id, partitions).index
    }

    /// Adds members and edges. An edge from an upstream that has ended is settled at once. An edge into a member that
    /// has started is refused, unless the holder of that member adds it, to wait for its children.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<GrownFlow>, Stop> {
        let now = at.now;
        let id = self.flow_id;
        let flow = view.flow(&id)?.filter(|flow| flow.is_visible()).ok_or(Code::FlowNotFound)?;
        if let Some(key) = &self.idempotency_key
            && let Some(entry) = view.flow_key(&id, key)?
            && now < entry.until
        {
            return Ok(Decision::of(entry.answer.clone(), None));
        }
        flow.check_live()?;
        let mut step = Step::new(view, now);
        if let Some((holder, fence)) = &self.holder {
            step.member(&id, holder, "holder")?.held_by(fence, now)?;
        }
        if let Some(expected) = self.expected_graph_revision.filter(|expected| *expected != flow.graph_revision) {
            let why = format!("is {expected}, and the graph's is {}", flow.graph_revision);
            return Err(Code::StaleGraphRevision.refusal().at("expected_graph_revision").because(why).into());
        }
        let resolve = |of: &MemberRef| match of {
            MemberRef::Node(node) => member_id(&id, node, &at.partitions),
            MemberRef::Execution(execution) => *execution,
        };
        let edges: Vec<_> = self
            .edges
            .iter()
            .map(|edge| ResolvedEdge {
                upstream: resolve(&edge.upstream),
                downstream: resolve(&edge.downstream),
                passes: edge.passes.clone(),
                name: format!("{}->{}", edge.upstream, edge.downstream),
            })
            .collect();
        let entered: BTreeSet<_> = edges.iter().map(|edge| edge.downstream).collect();
        let newcomers = if self.holder.is_some() { MemberOrigin::Children } else { MemberOrigin::Submitted };
        let members = step.add_nodes(&id, &self.nodes, &entered, &at.partitions, newcomers)?;
        let holder = self.holder.map(|(holder, _)| holder);
        for spec in &self.joins {
            step.set_join(&id, resolve(&spec.member), spec.join, holder, &format!("joins.{}", spec.member))?;
        }
        step.add_edges(&id, &edges, EdgeRule::Live { holder })?;
        let touched: Vec<_> = step.groups().copied().collect();
        for group in touched {
            step.evaluate_new(group)?;
        }
        let record = &mut step.flow_change(&id)?.after;
        record.graph_revision += 1;
        let graph_revision = record.graph_revision;
        let [added_nodes, added_edges] =
            [members.len(), edges.len()].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        step.record_event(&id, FlowEventKind::Grown { nodes: added_nodes, edges: added_edges, graph_revision })?;
        let mut states = Vec::new();
        for edge in &edges {
            let id = edge_id(&self.flow_id, &edge.upstream, &edge.downstream);
            states.extend(step.edge(&self.flow_id, &id)?.map(|edge| (id, edge.state)));
        }
        let grown = GrownFlow { graph_revision, members, edges: states };
        if let Some(key) = self.idempotency_key.clone() {
            let entry = FlowKeyEntry { key, answer: grown.clone(), until: now + limits::FLOW_DEDUP_MS };
            step.flow_change(&id)?.key = Some(entry);
        }
        Ok(Decision::settled(grown, step.run()?))
    }
}

impl Step<'_> {
    /// Sets the join of the edges into a member. Refuses another join if the member has edges already.
    fn set_join(
        &mut self,
        flow: &FlowId,
        id: ExecutionId,
        join: Join,
        holder: Option<ExecutionId>,
        field: &str,
    ) -> Result<(), Stop> {
        self.member(flow, &id, field)?;
        let mut group = self.group(&id)?.unwrap_or(Group::new(*flow, id, Join::AllOf));
        if holder == Some(id) && (group.round == 0 || group.state != GroupState::Pending) {
            group.begin_round();
        }
        if group.n > 0 && group.join != join {
            return Err(Refusal::invalid(field, "must stay as it is: there are edges that join otherwise").into());
        }
        group.join = join;
        self.put_group(group)
    }

    /// Evaluates a join that got new edges. Unless the join is satisfied, a ready or delayed member is blocked by its
    /// dependencies.
    fn evaluate_new(&mut self, mut group: Group) -> Result<(), Stop> {
        let id = group.downstream_execution_id;
        let Some(child) = self.execution(&id)?.cloned() else { return Ok(()) };
        let node = child.membership.as_ref().map(|membership| membership.node.clone());
        group.join.check_of(group.n, &node.map_or_else(|| "joins".into(), |node| format!("nodes.{node}.join")))?;
        group.evaluate(self.now);
        self.put_group(group)?;
        let until = match child.phase {
            Phase::Delayed { until, .. } => Some(until),
            _ => None,
        };
        if child.is_ready_or_delayed() && group.state != GroupState::Satisfied {
            self.write(child.enter(Phase::Blocked { on: Blocker::Dependencies, until }, self.now))?;
        }
        if group.state == GroupState::Pending { Ok(()) } else { self.fired(&group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::SubmitArgs;
    use crate::flow::contracts::{CloseFlowArgs, CreateFlowArgs, FlowHeader, WaitForChildrenArgs};
    use crate::flow::fixture::{FlowFixture, edge, graph, named, quorum, spec};
    use crate::flow::{EdgeState, OnSatisfied, PassMode};
    use crate::payload::Payload;
    use crate::types::Kind;

    #[test]
    fn a_flow_that_is_grown_stays_open_until_it_is_closed() {
        let mut flow = FlowFixture::empty();
        let header = FlowHeader { flow_id: flow.id, ..FlowHeader::new(Kind::parse("etl").unwrap()) };
        flow.ask(CreateFlowArgs { header: header.clone() }).unwrap();
        assert!(flow.ask(CreateFlowArgs { header }).unwrap().duplicate);
        let growth = flow.growth(&["a"], &[]);
        flow.ask(growth).unwrap();
        flow.run();
        assert_eq!(flow.flow_state(), "running");
        let growth = flow.growth(&["b"], &[("a", "b")]);
        let grown = flow.ask(growth).unwrap();
        assert_eq!(grown.edges[0].1, EdgeState::Satisfied, "its upstream had ended");
        assert_eq!(flow.state("b"), "waiting");
        flow.run();
        let closed = flow.ask(CloseFlowArgs { flow_id: flow.id }).unwrap();
        assert_eq!(closed.state.as_str(), "completed");
        assert!(flow.ask(CloseFlowArgs { flow_id: flow.id }).unwrap().already);
        let growth = flow.growth(&["c"], &[]);
        assert_eq!(flow.refused(growth).code, Code::FlowAlreadyTerminal);
    }

    #[test]
    fn an_edge_onto_what_failed_skips_at_once() {
        let mut flow = FlowFixture::of("a b>c");
        flow.start();
        flow.fail("a");
        let growth = flow.growth(&[], &[("a", "c")]);
        flow.ask(growth).unwrap();
        assert_eq!(flow.states("b c"), ["active", "skipped"]);
    }

    #[test]
    fn a_waiting_member_waits_for_an_upstream_added_later() {
        let mut flow = FlowFixture::of("a b");
        let growth = flow.growth(&[], &[("a", "b")]);
        flow.ask(growth).unwrap();
        assert_eq!(flow.states("a b"), ["waiting", "waiting_children"]);
        flow.run();
        assert_eq!(flow.flow_state(), "completed");
    }

    #[test]
    fn an_invalid_growth_is_refused_with_its_field() {
        let mut flow = FlowFixture::of("a>b b>c x");
        flow.claim(1);
        let stranger = flow.ask(SubmitArgs::new(Kind::parse("k").unwrap(), Payload::json("1"))).unwrap().execution_id;
        let started = if flow.state("a") == "active" { "a" } else { "x" };
        let by_id = |id| EdgeAddition { upstream: MemberRef::Execution(id), ..edge("x", "c") };
        let cases = [
            (vec![edge("c", "c")], Code::SelfReferencingEdge, "edges.c->c".to_owned()),
            (vec![edge("unknown", "c")], Code::ExecutionNotInFlow, "edges.unknown->c".into()),
            (vec![edge("b", "c")], Code::DependencyAlreadyExists, "edges.b->c".into()),
            (vec![edge("c", "b")], Code::CycleDetected, "edges.c->b".into()),
            (vec![edge("c", started)], Code::NotRunnable, format!("edges.c->{started}")),
            (vec![by_id(stranger)], Code::ExecutionNotInFlow, format!("edges.{stranger}->c")),
        ];
        for (edges, code, field) in cases {
            let refusal = flow.refused(GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) });
            assert_eq!((refusal.code, refusal.field), (code, Some(field)));
        }
        let twice = flow.growth(&["a"], &[]);
        assert_eq!(flow.refused(twice).code, Code::ExecutionAlreadyInFlow);
        let stale = GrowFlowArgs { expected_graph_revision: Some(0), ..flow.growth(&["d"], &[]) };
        assert_eq!(flow.refused(stale).code, Code::StaleGraphRevision);
        let short = GrowFlowArgs {
            joins: vec![JoinSpec { member: MemberRef::Node(named("d")), join: quorum(2, OnSatisfied::LetRun) }],
            ..flow.growth(&["d"], &[("x", "d")])
        };
        assert_eq!(flow.refused(short).field.as_deref(), Some("nodes.d.join"));
    }

    #[test]
    fn the_payload_is_passed_into_a_node_once_however_the_node_is_named() {
        let mut flow = FlowFixture::of("a b c d");
        let passing = |from: &str, to: MemberRef| EdgeAddition {
            passes: Some(PassMode::Payload),
            downstream: to,
            ..edge(from, "c")
        };
        let growth = |edges| GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) };
        let (by_name, by_id) = (MemberRef::Node(named("c")), MemberRef::Execution(flow.member("c")));
        let both = growth(vec![passing("a", by_name.clone()), passing("b", by_id.clone())]);
        let (first, later) = (growth(vec![passing("a", by_id.clone())]), growth(vec![passing("b", by_name)]));
        assert_eq!(flow.refused(both).field, Some(format!("edges.b->{by_id}")));
        flow.ask(first).unwrap();
        assert_eq!(flow.refused(later).field.as_deref(), Some("edges.b->c"));
    }

    #[test]
    fn a_member_of_another_flow_is_answered_as_one_that_does_not_exist() {
        let mut flow = FlowFixture::of("a");
        flow.start();
        let (foreign, fence) = (flow.member("a"), flow.fence("a"));
        flow.submit(graph("b", &[])).unwrap();
        let unknown = ExecutionId::new(foreign.partition(), uuid::Uuid::now_v7());
        let grown = |id: ExecutionId| {
            let member = || MemberRef::Execution(id);
            let args = GrowFlowArgs { nodes: vec![spec("c")], ..GrowFlowArgs::new(flow.id) };
            let joins = vec![JoinSpec { member: member(), join: Join::AllOf }];
            let (up, down) = (EdgeAddition { upstream: member(), ..edge("b", "b") }, edge("b", "b"));
            [
                GrowFlowArgs { edges: vec![up], ..args.clone() },
                GrowFlowArgs { edges: vec![EdgeAddition { downstream: member(), ..down }], ..args.clone() },
                GrowFlowArgs { joins, ..args.clone() },
                GrowFlowArgs { holder: Some((id, fence)), ..args },
            ]
        };
        let (of_foreign, of_unknown) = (grown(foreign), grown(unknown));
        for (of_foreign, of_unknown) in of_foreign.into_iter().zip(of_unknown) {
            let (refusal, expected) = (flow.refused(of_foreign), flow.refused(of_unknown));
            assert_eq!((refusal.code, &refusal.detail), (Code::ExecutionNotInFlow, &expected.detail));
            assert_eq!(expected.code, Code::ExecutionNotInFlow);
        }
    }

    #[test]
    fn a_cycle_within_one_change_is_found() {
        let mut flow = FlowFixture::of("a");
        let growth = flow.growth(&["b", "c"], &[("a", "b"), ("b", "c"), ("c", "b")]);
        assert_eq!(flow.refused(growth).field.as_deref(), Some("edges.c->b"));
    }

    #[test]
    fn a_member_skipped_when_added_skips_its_new_dependents() {
        let mut flow = FlowFixture::of("a b x");
        flow.start();
        flow.fail("a");
        let growth = flow.growth(&["c", "d"], &[("a", "c"), ("c", "d"), ("x", "d")]);
        flow.ask(growth).unwrap();
        assert_eq!(flow.states("c d"), ["skipped", "skipped"]);
    }

    #[test]
    fn a_join_without_edges_is_met() {
        let mut flow = FlowFixture::of("a b");
        let all_of = |name: &str| JoinSpec { member: MemberRef::Node(named(name)), join: Join::AllOf };
        let growth = GrowFlowArgs { joins: vec![all_of("a")], ..flow.growth(&["c"], &[]) };
        flow.ask(growth).unwrap();
        assert_eq!(flow.state("a"), "waiting");
        let growth = flow.growth(&[], &[("b", "a")]);
        flow.ask(growth).unwrap();
        assert_eq!(flow.state("a"), "waiting_children", "with its first edge it waits like any other");

        flow.start();
        let execution_id = flow.member("b");
        let fence = flow.fence("b");
        let holder = Some((execution_id, fence));
        let growth = GrowFlowArgs { joins: vec![all_of("b")], holder, ..flow.growth(&["d"], &[]) };
        flow.ask(growth).unwrap();
        let waited = flow.ask(WaitForChildrenArgs { execution_id, fence }).unwrap();
        assert_eq!(waited.state, GroupState::Satisfied, "a round without children is over");
    }

    #[test]
    fn a_change_under_a_key_is_made_once() {
        let mut flow = FlowFixture::of("a");
        let key = Some(IdempotencyKey::parse("once").unwrap());
        let growth = GrowFlowArgs { idempotency_key: key, ..flow.growth(&["b"], &[("a", "b")]) };
        let first = flow.ask(growth.clone()).unwrap();
        flow.run();
        assert_eq!(flow.ask(growth), Ok(first), "also after the flow has ended");
    }
}
