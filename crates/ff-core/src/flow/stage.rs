//! Submitting a whole graph, in one part or in several. The flow is invisible until the last part arrives.

use std::collections::BTreeSet;

use super::contracts::{EdgeSpec, FlowHeader, NodeSpec, check_call};
use super::create::SubmittedFlow;
use super::graph::{EdgeRule, MemberOrigin, ResolvedEdge};
use super::{Flow, FlowEventKind, Staging, Step, SweepAction, member_id};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, flow_partition};
use crate::payload::Fingerprint;
use crate::rule::view::{Stop, View};
use crate::types::NodeName;

/// One part of a submission. The flow becomes visible with the last part.
#[derive(Clone, Debug, PartialEq)]
pub struct StageFlowArgs {
    pub header: FlowHeader,
    /// Fingerprint of the whole graph. A submission with the same id and another graph is a conflict.
    pub fingerprint: Fingerprint,
    /// Number of this part, from 0.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
    /// Nodes in topological order: every edge, of this part or a later one, goes from an earlier node to a later one.
    pub nodes: Vec<NodeSpec>,
    pub edges: Vec<EdgeSpec>,
}

impl StageFlowArgs {
    pub fn is_last(&self) -> bool {
        self.part + 1 == self.parts
    }

    pub fn check(&self) -> Result<(), Refusal> {
        self.header.check()?;
        if self.part >= self.parts {
            return Err(Refusal::invalid("part", format!("must be below {}, got {}", self.parts, self.part)));
        }
        check_call(&self.nodes, self.edges.len())
    }
}

/// The answer to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagedFlow {
    /// The part is stored; the next one is expected.
    Staged { next_part: u32 },
    /// The part was the last one, or the whole flow existed already.
    Submitted(SubmittedFlow),
}

impl Command for StageFlowArgs {
    type Reply = StagedFlow;
    const SETTLES_FLOWS: bool = true;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.header.flow_id, partitions).index
    }

    /// Adds the next part of a submission. The last part makes the whole flow visible.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<StagedFlow>, Stop> {
        let now = at.now;
        let id = self.header.flow_id;
        if let Some(answer) = known(view.flow(&id)?, self)? {
            return Ok(Decision::of(answer, None));
        }
        let mut step = Step::new(view, now);
        if self.part == 0 {
            let staging = (self.parts > 1).then_some(Staging { parts: 0, short: 0, until: now });
            let fingerprint = Some(self.fingerprint);
            step.begin(Flow { staging, fingerprint, ..Flow::new(&self.header, &at.partitions, now) });
        }
        let edges: Vec<_> = self
            .edges
            .iter()
            .map(|edge| {
                let end = |node: &NodeName| member_id(&id, node, &at.partitions);
                ResolvedEdge {
                    upstream: end(&edge.upstream),
                    downstream: end(&edge.downstream),
                    passes: edge.passes.clone(),
                    name: format!("{}->{}", edge.upstream, edge.downstream),
                }
            })
            .collect();
        let entered: BTreeSet<_> = edges.iter().map(|edge| edge.downstream).collect();
        step.add_nodes(&id, &self.nodes, &entered, &at.partitions, MemberOrigin::Submitted)?;
        step.add_edges(&id, &edges, EdgeRule::Ordered)?;
        step.count_short(self)?;
        let record = &mut step.flow_change(&id)?.after;
        if let Some(staging) = &mut record.staging {
            staging.parts += 1;
            staging.until = now + limits::STAGING_MS;
        }
        if !self.is_last() {
            return Ok(Decision::settled(StagedFlow::Staged { next_part: self.part + 1 }, step.run()?));
        }
        if record.nodes == 0 {
            return Err(Refusal::invalid("nodes", "must contain at least one node").into());
        }
        record.graph_revision = 1;
        let (nodes, edges, staged) = (record.nodes, record.edges, record.staging.take().is_some());
        step.record_event(&id, FlowEventKind::Opened { nodes, edges })?;
        if staged {
            step.announce_sweep(&id, SweepAction::Open)?;
        }
        let settled = step.run()?;
        let flow = settled.flow(&id).ok_or(Code::InvariantViolation)?;
        Ok(Decision::settled(StagedFlow::Submitted(SubmittedFlow::of(flow, false)), settled))
    }
}

/// Returns the answer to a repeated part, or nothing if the part is the next one. Refuses a part that is out of order
/// or belongs to another flow.
fn known(flow: Option<&Flow>, args: &StageFlowArgs) -> Result<Option<StagedFlow>, Refusal> {
    let Some(flow) = flow else {
        return if args.part == 0 { Ok(None) } else { Err(Code::FlowNotFound.refusal()) };
    };
    if flow.namespace != args.header.namespace || flow.fingerprint != Some(args.fingerprint) {
        let refusal = Code::IdempotencyConflict.refusal().at("flow_id");
        return Err(refusal.because("was used before for another flow"));
    }
    match flow.staging {
        None => Ok(Some(StagedFlow::Submitted(SubmittedFlow::of(flow, true)))),
        // The abandoned submission is being deleted. It can be repeated afterwards.
        Some(_) if flow.member_sweep.is_some() => Err(Code::FlowNotFound.refusal()),
        Some(staging) if args.part < staging.parts => Ok(Some(StagedFlow::Staged { next_part: staging.parts })),
        Some(staging) if args.part > staging.parts => {
            Err(Refusal::invalid("part", format!("must be {}, got {}", staging.parts, args.part)))
        }
        Some(_) => Ok(None),
    }
}

impl Step<'_> {
    /// Counts the joins with fewer upstreams than they need. Refuses the last part if there are any; before the last
    /// part, more upstreams may come.
    fn count_short(&mut self, args: &StageFlowArgs) -> Result<(), Stop> {
        let mut short = self.flow(&args.header.flow_id)?.staging.map_or(0, |staging| staging.short);
        for group in self.groups() {
            let before = self.view.group(&group.downstream_execution_id)?;
            short -= u32::from(before.is_some_and(|before| before.join.is_short(before.n)));
            short += u32::from(group.join.is_short(group.n));
        }
        if args.is_last() && short > 0 {
            for group in self.groups() {
                let member = self.execution(&group.downstream_execution_id)?;
                let node = member.and_then(|member| member.membership.as_ref()).map(|membership| &membership.node);
                let field = node.map_or_else(|| "nodes".into(), |node| format!("nodes.{node}.join"));
                group.join.check_of(group.n, &field)?;
            }
            return Err(Refusal::invalid(
                "nodes",
                format!("must have the upstreams their joins need, {short} have not"),
            )
            .into());
        }
        if let Some(staging) = &mut self.flow_change(&args.header.flow_id)?.after.staging {
            staging.short = short;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::CancelArgs;
    use crate::flow::contracts::SubmitFlowArgs;
    use crate::flow::fixture::{FlowFixture, graph, named, spec};
    use crate::state::PublicState;

    fn large() -> SubmitFlowArgs {
        let edges: Vec<_> = (0..450).map(|n| format!("n{n}>z")).collect();
        graph(&edges.join(" "), &[])
    }

    #[test]
    fn a_partly_submitted_flow_is_invisible() {
        let mut flow = FlowFixture::empty();
        let args = large();
        flow.id = args.header.flow_id;
        let parts = args.plan().unwrap();
        assert!(parts.len() > 2);
        flow.parts(&parts[..parts.len() - 1]);
        assert!(flow.model.find_flow(&flow.id).is_none());
        assert_eq!(flow.claim(10), []);
        let execution_id = flow.member("n0");
        let cancel = CancelArgs { execution_id, reason: None, requested_by: None };
        assert_eq!(flow.refused(cancel).code, Code::ExecutionNotFound);
        assert!(flow.model.snapshot(0).indexes.is_empty());
        flow.part(parts[parts.len() - 1].clone()).unwrap();
        flow.drain();
        assert_eq!((flow.flow().nodes, flow.claim(10).len()), (451, 10));
    }

    #[test]
    fn parts_that_come_again_are_the_same_parts() {
        let mut flow = FlowFixture::empty();
        let args = large();
        flow.id = args.header.flow_id;
        let parts = args.plan().unwrap();
        flow.part(parts[0].clone()).unwrap();
        assert_eq!(flow.part(parts[0].clone()), Ok(StagedFlow::Staged { next_part: 1 }));
        assert_eq!(flow.part(parts[2].clone()).unwrap_err().field.as_deref(), Some("part"));
        flow.parts(&parts[1..]);
        let again = flow.part(parts[1].clone()).unwrap();
        assert!(matches!(again, StagedFlow::Submitted(SubmittedFlow { duplicate: true, nodes: 451, .. })));
    }

    #[test]
    fn the_same_id_for_another_graph_is_a_conflict() {
        let mut flow = FlowFixture::of("a>b");
        let mut other = graph("a>b b>c", &[]);
        other.header.flow_id = flow.id;
        assert_eq!(flow.submit(other).unwrap_err().code, Code::IdempotencyConflict);
        let mut same = graph("a>b", &[]);
        same.header.flow_id = flow.id;
        assert!(flow.submit(same).unwrap().duplicate);
    }

    #[test]
    fn a_submission_that_is_given_up_leaves_nothing() {
        let mut flow = FlowFixture::empty();
        let args = large();
        flow.id = args.header.flow_id;
        let parts = args.plan().unwrap();
        flow.parts(&parts[..2]);
        flow.now = flow.now + limits::STAGING_MS;
        assert!(flow.drain() > 1);
        assert_eq!(flow.model.snapshot(0), crate::backend::snapshot::Snapshot::default());
        assert_eq!(flow.part(parts[2].clone()).unwrap_err().code, Code::FlowNotFound);
        flow.parts(&parts);
        assert_eq!(flow.flow().nodes, 451);
    }

    #[test]
    fn a_part_whose_edge_goes_backwards_is_refused() {
        let mut flow = FlowFixture::empty();
        let mut part = graph("a>b", &[]).plan().unwrap().remove(0);
        part.edges[0] = EdgeSpec { upstream: named("b"), downstream: named("a"), passes: None };
        let refusal = flow.refused(part);
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::CycleDetected, Some("edges.b->a")));
    }

    #[test]
    fn a_flow_of_ten_thousand_is_one_flow() {
        let nodes: Vec<_> = (0..limits::FLOW_NODES).map(|n| spec(&format!("n{n}"))).collect();
        let mut args = graph("x", &[]);
        args.nodes = nodes;
        let mut flow = FlowFixture::empty();
        flow.watched = false;
        flow.submit(args).unwrap();
        flow.drain();
        assert_eq!(flow.flow().counts.of(PublicState::Waiting), 10_000);
    }

    #[test]
    fn a_part_beyond_the_last_is_refused() {
        let mut part = graph("a", &[]).plan().unwrap().remove(0);
        assert_eq!(part.check(), Ok(()));
        part.part = 1;
        assert_eq!(part.check().unwrap_err().field.as_deref(), Some("part"));
    }
}
