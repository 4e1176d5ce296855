//! Choosing steps about flows: mostly something that can work, now and then something that must be refused.

use std::collections::BTreeSet;

use ff_core::contracts::Start;
use ff_core::execution::{Execution, Phase};
use ff_core::flow::{CancelPolicy, Flow, FlowState, GroupState, Join, OnSatisfied};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::{LaneId, Namespace};
use ff_core::view::View;

use super::reference::flow_id;
use super::step::{Growth, Link, Node, Pass, Plan};
use crate::differential::chooser::Chooser;
use crate::differential::reference::Reference;
use crate::differential::step::{Policies, Step, Submission};

/// Nodes of a chain that is too long to be skipped in one step.
const CHAIN: u32 = 24;
const _: () = assert!(CHAIN as usize > limits::FLOW_STEP);

impl Chooser {
    /// A step about a flow, mostly one of the latest.
    pub(crate) fn depend(&mut self, reference: &Reference) -> Step {
        if let Some(job) = self.head.take_if(|_| self.chance.one_in(4)) {
            return Step::Cancel { job, reason: None };
        }
        let owing = |execution: &Execution| execution.membership.as_ref().is_some_and(|of| of.owes.is_some());
        if let Some(job) = self.such_a_member(reference, owing).filter(|_| self.chance.one_in(2)) {
            return Step::Cascade { job };
        }
        let flow = self.flow();
        match self.chance.below(100) {
            0..11 => Step::SubmitFlow(self.plan()),
            11..13 => self.creation(),
            13..29 => Step::Grow(self.growth(reference)),
            29..35 => {
                Step::CloseFlow { flow: self.flow_that(reference, |flow| flow.held_open && flow.counts.live() > 0) }
            }
            35..39 => {
                let again = |flow: &Flow| flow.state() == FlowState::Cancelled;
                let flow = if self.chance.one_in(4) { self.flow_that(reference, again) } else { flow };
                let policy = *self.chance.pick(CancelPolicy::ALL);
                Step::CancelFlow { flow, policy, reason: self.maybe(3, &[0, 9, limits::MESSAGE_BYTES + 1]) }
            }
            39..40 => {
                let (from, count) = (usize::from(self.number(3)), self.usually(&[1, 2], &[limits::TAGS + 1]));
                Step::TagFlow { flow, from, count }
            }
            40..55 => self.parenthood(reference),
            55..57 => Step::Cascade { job: self.member(reference, Execution::is_finished) },
            57..62 => {
                let job = self.member(reference, Execution::is_finished);
                Step::Replay { job, reason: None, reopen: !self.chance.one_in(4) }
            }
            62..65 => Step::Pump { partition: self.partition(reference) },
            65..87 => {
                let spared = !self.chance.one_in(6);
                let childless = |member: &Execution| is_running(member) && !(spared && is_parent(reference, member));
                match self.such_a_member(reference, childless) {
                    Some(job) => self.end_of(job),
                    None => self.claim_member(reference),
                }
            }
            _ => self.claim_member(reference),
        }
    }

    /// Takes what waits beside a member that waits.
    fn claim_member(&mut self, reference: &Reference) -> Step {
        let job = self.member(reference, |execution| matches!(execution.phase, Phase::Waiting));
        let id = reference.id(job);
        let Some(waiting) = reference.model.find(&id) else { return self.claim(reference) };
        Step::Claim {
            partition: id.partition(),
            namespace: u8::from(waiting.namespace != Namespace::default_name()),
            lane: u8::from(waiting.lane != LaneId::default_name()),
            kinds: vec![],
            max: *self.chance.pick(&[1, 5, 5, 20]),
            worker: 0,
            ttl_ms: 30_000,
        }
    }

    /// How the holder of a member ends it.
    fn end_of(&mut self, job: u32) -> Step {
        let fence = self.fence();
        if self.chance.one_in(3) {
            return Step::Fail { job, fence, category: 0, permanent: !self.chance.one_in(3) };
        }
        Step::Complete { job, fence, result: self.maybe(2, &[0, 5, 100]) }
    }

    /// What a holder does about its children: it adds some, or waits for those it has.
    fn parenthood(&mut self, reference: &Reference) -> Step {
        let fence = self.fence();
        let decided = |member: &Execution| {
            let group = reference.model.group(&member.id).unwrap();
            is_running(member) && group.is_some_and(|group| group.round > 0 && group.state != GroupState::Pending)
        };
        if let Some(job) = self.such_a_member(reference, decided).filter(|_| !self.chance.one_in(4)) {
            return Step::WaitForChildren { job, fence };
        }
        let Some(job) = self.such_a_member(reference, is_running) else {
            return if self.chance.one_in(12) {
                Step::WaitForChildren { job: self.job(reference, |_| true), fence }
            } else {
                self.claim_member(reference)
            };
        };
        let Some(flow) = flow_of(reference, job) else { return Step::WaitForChildren { job, fence } };
        let group = reference.model.group(&reference.id(job)).unwrap();
        let wait = match group.filter(|group| group.round > 0).map(|group| group.state) {
            None => self.chance.one_in(10),
            Some(GroupState::Pending) if self.chance.one_in(2) => return self.claim_member(reference),
            Some(_) => !self.chance.one_in(4),
        };
        if wait {
            return Step::WaitForChildren { job, fence };
        }
        let nodes: Vec<_> = (0..1 + self.chance.below(3)).map(|_| self.node()).collect();
        let mut edges: Vec<_> = nodes.iter().map(|node| self.link(node.work.job, job)).collect();
        leave_one_payload(&mut edges);
        let joins = if self.chance.one_in(3) { vec![(job, self.join(nodes.len()))] } else { vec![] };
        let (by_id, holder) = (false, Some((job, fence)));
        Step::Grow(Growth { flow, nodes, joins, edges, by_id, holder, revision: None, key: self.maybe(3, &[0, 1]) })
    }

    /// A graph whose edges go from a node to a later one, or one that must be refused.
    fn plan(&mut self) -> Plan {
        let again = self.flows > 0 && self.chance.one_in(20);
        let flow = if again { self.flow() } else { self.flows };
        self.flows += u32::from(!again);
        let chain = self.chance.one_in(10);
        let count = if chain { CHAIN } else { 1 + u32::try_from(self.chance.below(7)).unwrap() };
        let mut nodes: Vec<_> = (0..count).map(|_| self.node()).collect();
        if chain {
            self.head = Some(nodes[0].work.job);
        }
        let mut edges = Vec::new();
        for to in 1..nodes.len() {
            let near = if chain { to - 1 } else { 0 };
            let from: Vec<_> = (near..to).filter(|_| chain || self.chance.one_in(3)).collect();
            nodes[to].join = self.join(from.len());
            edges.extend(from.iter().map(|from| (nodes[*from].work.job, nodes[to].work.job)));
        }
        let mut edges: Vec<_> = edges.into_iter().map(|(from, to)| self.link(from, to)).collect();
        leave_one_payload(&mut edges);
        if self.chance.one_in(3) {
            nodes.reverse();
            edges.reverse();
        }
        if self.chance.one_in(6) {
            self.spoil(&mut nodes, &mut edges);
        }
        let (namespace, kind) = (u8::from(self.chance.one_in(10)), self.number(2));
        Plan { flow, namespace, kind, tags: self.usually(&[0, 2], &[limits::TAGS + 1]), nodes, edges }
    }

    /// Puts something into a graph that cannot be there.
    fn spoil(&mut self, nodes: &mut Vec<Node>, edges: &mut Vec<Link>) {
        let [first, last] = [nodes[0].work.job, nodes[nodes.len() - 1].work.job];
        match self.chance.below(8) {
            0 => edges.push(Link { from: first, to: first, passes: None }),
            1 => edges.push(Link { from: first, to: u32::MAX - 1, passes: None }),
            2 => edges.extend(edges.first().copied()),
            3 => nodes.push(nodes[0].clone()),
            4 => nodes[0].join = Join::Quorum { k: 0, on_satisfied: OnSatisfied::LetRun },
            5 => nodes.clear(),
            _ => {
                edges.push(Link { from: first, to: last, passes: None });
                edges.push(Link { from: last, to: first, passes: None });
            }
        }
    }

    /// A flow that is to be grown, rarely one that is there.
    fn creation(&mut self) -> Step {
        let again = self.flows > 0 && self.chance.one_in(6);
        let flow = if again { self.flow() } else { self.flows };
        self.flows += u32::from(!again);
        Step::CreateFlow { flow, namespace: u8::from(self.chance.one_in(10)), kind: self.number(2) }
    }

    /// New members of a flow, and edges among all it has.
    fn growth(&mut self, reference: &Reference) -> Growth {
        let grows = |flow: &Flow| !flow.state().is_terminal();
        let flow = match self.chance.below(5) {
            0 => self.flow_that(reference, |flow| grows(flow) && flow.counts.live() < flow.counts.all()),
            1 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Skipped) > 0),
            2 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Completed) > 0),
            3 => self.flow_that(reference, |flow| grows(flow) && flow.held_open),
            _ => self.flow_that(reference, grows),
        };
        let nodes: Vec<_> = (0..self.chance.below(3)).map(|_| self.node()).collect();
        let mut known: Vec<_> =
            reference.jobs().map(|(job, _)| job).filter(|job| flow_of(reference, *job) == Some(flow)).collect();
        known.extend(nodes.iter().map(|node| node.work.job));
        let strangers = [self.member(reference, |_| true), self.job(reference, |_| true)];
        let known_or_not = |chooser: &mut Self| match chooser.chance.below(8) {
            0 => *chooser.chance.pick(&strangers),
            _ if known.is_empty() => u32::MAX - 1,
            _ => *chooser.chance.pick(&known),
        };
        let is_over = |job: &u32| reference.model.find(&reference.id(*job)).is_some_and(Execution::is_finished);
        let mut over: Vec<_> = known.iter().copied().filter(is_over).collect();
        let end = |job: &u32| reference.model.find(&reference.id(*job)).map(Execution::public_state);
        let ends: Vec<_> = over.iter().map(end).collect::<BTreeSet<_>>().into_iter().collect();
        if !ends.is_empty() && !self.chance.one_in(4) {
            let one = *self.chance.pick(&ends);
            over.retain(|job| end(job) == one);
        }
        let edges: Vec<_> = (0..self.chance.below(4))
            .map(|_| match nodes.last().filter(|_| !over.is_empty() && !self.chance.one_in(3)) {
                Some(new) => {
                    let from = *self.chance.pick(&over);
                    self.link(from, new.work.job)
                }
                None => {
                    let (one, other) = (known_or_not(self), known_or_not(self));
                    // Mostly forward, so that some are left that close no cycle.
                    let turned = one > other && !self.chance.one_in(6);
                    if turned { self.link(other, one) } else { self.link(one, other) }
                }
            })
            .collect();
        let joins = if self.chance.one_in(5) { vec![(known_or_not(self), self.join(2))] } else { vec![] };
        Growth {
            flow,
            nodes,
            joins,
            edges,
            by_id: self.chance.one_in(2),
            holder: None,
            revision: self.maybe(5, &[0, 0, -1, 1]),
            key: self.maybe(5, &[0, 1]),
        }
    }

    fn link(&mut self, from: u32, to: u32) -> Link {
        let pass = [Pass::Payload, Pass::Input(u8::try_from(from % 200).unwrap()), Pass::Input(0)];
        Link { from, to, passes: self.maybe(2, &pass[..2 + usize::from(from.is_multiple_of(9))]) }
    }

    fn join(&mut self, upstreams: usize) -> Join {
        let on_satisfied = *self.chance.pick(OnSatisfied::ALL);
        match self.chance.below(5) {
            0 | 1 if upstreams > 0 => Join::AnyOf { on_satisfied },
            2 if upstreams > 0 => {
                let k = 1 + u32::try_from(self.chance.below(upstreams as u64)).unwrap();
                Join::Quorum { k, on_satisfied }
            }
            _ => Join::AllOf,
        }
    }

    fn node(&mut self) -> Node {
        let job = self.next_job();
        let work = Submission {
            job,
            namespace: 0,
            lane: *self.chance.pick(&[0, 0, 1]),
            kind: *self.chance.pick(&[0, 0, 1]),
            payload: if self.chance.one_in(300) { limits::PAYLOAD_BYTES + 1 } else { 3 },
            priority: *self.chance.pick(&[0, 0, 1]),
            tags: *self.chance.pick(&[0, 0, 2]),
            key: None,
            start: *self.chance.pick(&[Start::Now, Start::Now, Start::Now, Start::After(2_000)]),
            policy: *self.chance.pick(&[
                Policies::Default,
                Policies::Default,
                Policies::Tight,
                Policies::None,
                Policies::None,
                Policies::Timed,
            ]),
        };
        Node { work, join: Join::AllOf }
    }

    /// A flow: mostly one of the latest, rarely one that is not there.
    fn flow(&mut self) -> u32 {
        if self.flows == 0 || self.chance.one_in(40) {
            return u32::MAX;
        }
        let lately = self.flows.min(3);
        self.flows - 1 - u32::try_from(self.chance.below(lately.into())).unwrap()
    }

    /// A flow that stands so, if there is one among the latest.
    fn flow_that(&mut self, reference: &Reference, stands: impl Fn(&Flow) -> bool) -> u32 {
        let lately = self.flows.saturating_sub(8)..self.flows;
        let stands = |flow: &u32| reference.model.find_flow(&flow_id(*flow)).is_some_and(&stands);
        let suitable: Vec<_> = lately.filter(stands).collect();
        if suitable.is_empty() || self.chance.one_in(8) { self.flow() } else { *self.chance.pick(&suitable) }
    }

    /// A member of some flow, of such a kind if there is one among the latest.
    fn member(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> u32 {
        match self.such_a_member(reference, suits).filter(|_| !self.chance.one_in(12)) {
            Some(job) => job,
            None => self.job(reference, |_| true),
        }
    }

    fn such_a_member(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> Option<u32> {
        let found = |(job, id)| Some((job, reference.model.find(&id).filter(|found| found.membership.is_some())?));
        let members: Vec<_> = reference.jobs().filter_map(found).collect();
        let lately = &members[members.len().saturating_sub(80)..];
        let suitable: Vec<_> = lately.iter().filter(|(_, member)| suits(member)).collect();
        if suitable.is_empty() { None } else { Some(self.chance.pick(&suitable).0) }
    }
}

fn is_running(execution: &Execution) -> bool {
    matches!(execution.phase, Phase::Running { .. })
}

/// Whether a member has added children in its latest life.
fn is_parent(reference: &Reference, member: &Execution) -> bool {
    reference.model.group(&member.id).unwrap().is_some_and(|group| group.round > 0)
}

/// The number of the flow a job is in.
fn flow_of(reference: &Reference, job: u32) -> Option<u32> {
    let membership = reference.model.find(&reference.id(job))?.membership.as_ref()?;
    reference.flow_number(&membership.flow_id)
}

/// At most one edge into a node passes the payload. Changes of a flow try two, which is refused.
fn leave_one_payload(edges: &mut [Link]) {
    let mut injected = BTreeSet::new();
    for edge in edges.iter_mut().filter(|edge| edge.passes == Some(Pass::Payload)) {
        if !injected.insert(edge.to) {
            edge.passes = None;
        }
    }
}
