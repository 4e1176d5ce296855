//! Choosing transitions about flows: mostly ones that can work, now and then one that must be refused.

use std::collections::BTreeSet;

use ff_core::contracts::{FlowHeader, Start, SubmitFlowArgs};
use ff_core::execution::{Execution, Phase};
use ff_core::flow::{CancelPolicy, Flow, FlowState, GroupState, Join, OnSatisfied};
use ff_core::limits;
use ff_core::policy::Policy;
use ff_core::state::PublicState;
use ff_core::types::{LaneId, Namespace};
use ff_core::view::View;

use super::Generator;
use crate::reference::{Reference, flow_id, graph_of};
use crate::transition::{Growth, Link, Node, Pass, Plan, Policies, Submission, Transition};

/// Nodes of a graph that is too large for one step.
const LARGE: u32 = 60;
const _: () = assert!(LARGE as usize > limits::MAX_CASCADE_DEPTH);

/// Nodes of a graph whose parts come one by one.
const IN_PARTS: u32 = 40;
const _: () = assert!(IN_PARTS as usize > limits::FLOW_STEP);

/// Nodes of a chain that is too long to be skipped in one step.
const CHAIN: u32 = 24;
const _: () = assert!(CHAIN as usize > limits::FLOW_STEP);

impl Generator {
    /// A transition about a flow, mostly one of the latest.
    pub(crate) fn depend(&mut self, reference: &Reference) -> Transition {
        if let Some(job) = self.head.take_if(|_| self.chance.one_in(4)) {
            return Transition::Cancel { job, reason: None };
        }
        let owing = |execution: &Execution| execution.membership.as_ref().is_some_and(|of| of.owes.is_some());
        if let Some(job) = self.such_a_member(reference, owing).filter(|_| self.chance.one_in(2)) {
            return Transition::Cascade { job };
        }
        if let Some(staged) = self.staged.filter(|_| self.chance.one_in(4)) {
            return self.part(staged);
        }
        let flow = self.flow();
        match self.chance.below(100) {
            0..11 if self.chance.one_in(40) => self.large_flow(),
            0..11 => Transition::SubmitFlow(self.plan()),
            11..15 => self.creation(),
            15..32 => Transition::Grow(self.growth(reference)),
            32..38 => Transition::CloseFlow {
                flow: self.flow_that(reference, |flow| flow.held_open && flow.counts.live() > 0),
            },
            38..43 => {
                let again = |flow: &Flow| flow.state() == FlowState::Cancelled;
                let lives = |flow: &Flow| !flow.state().is_terminal();
                let flow = match self.chance.below(4) {
                    0 => self.flow_that(reference, again),
                    1 => flow,
                    _ => self.flow_that(reference, lives),
                };
                let policy = *self.chance.pick(CancelPolicy::ALL);
                Transition::CancelFlow { flow, policy, reason: self.maybe(3, &[0, 9, limits::MESSAGE_BYTES + 1]) }
            }
            43 => {
                let (from, count) = (usize::from(self.number(3)), self.usually(&[1, 2], &[limits::TAGS + 1]));
                Transition::TagFlow { flow, from, count }
            }
            44..57 => self.parenthood(reference),
            57 => Transition::Cascade { job: self.member(reference, Execution::is_finished) },
            58..65 => {
                let job = self.member(reference, Execution::is_finished);
                Transition::Replay { job, reason: None, reopen: !self.chance.one_in(4) }
            }
            65..68 => self.pump(reference),
            68..89 => {
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
    fn claim_member(&mut self, reference: &Reference) -> Transition {
        let job = self.member(reference, |execution| matches!(execution.phase, Phase::Waiting));
        let id = reference.id(job);
        let Some(waiting) = reference.model.find(&id) else { return self.claim(reference) };
        Transition::Claim {
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
    fn end_of(&mut self, job: u32) -> Transition {
        let fence = self.fence();
        if self.chance.one_in(3) {
            return Transition::Fail { job, fence, category: 0, permanent: !self.chance.one_in(3) };
        }
        Transition::Complete { job, fence, result: *self.chance.pick(&[None, Some(0), Some(5), Some(100)]) }
    }

    /// What a holder does about its children: it adds some, or waits for those it has.
    fn parenthood(&mut self, reference: &Reference) -> Transition {
        let fence = self.fence();
        let decided = |member: &Execution| {
            let group = reference.model.group(&member.id).unwrap();
            is_running(member) && group.is_some_and(|group| group.round > 0 && group.state != GroupState::Pending)
        };
        if let Some(job) = self.such_a_member(reference, decided).filter(|_| !self.chance.one_in(4)) {
            return Transition::WaitForChildren { job, fence };
        }
        let Some(job) = self.such_a_member(reference, is_running) else {
            return if self.chance.one_in(12) {
                Transition::WaitForChildren { job: self.job(reference, |_| true), fence }
            } else {
                self.claim_member(reference)
            };
        };
        let Some(flow) = flow_of(reference, job) else { return Transition::WaitForChildren { job, fence } };
        let group = reference.model.group(&reference.id(job)).unwrap();
        let wait = match group.filter(|group| group.round > 0).map(|group| group.state) {
            None => self.chance.one_in(10),
            Some(GroupState::Pending) if self.chance.one_in(2) => return self.claim_member(reference),
            Some(_) => !self.chance.one_in(4),
        };
        if wait {
            return Transition::WaitForChildren { job, fence };
        }
        let nodes: Vec<_> = (0..1 + self.chance.below(3)).map(|_| self.node()).collect();
        let mut edges: Vec<_> = nodes.iter().map(|node| self.link(node.work.job, job)).collect();
        leave_one_payload(&mut edges);
        let joins = if self.chance.one_in(3) { vec![(job, self.join(nodes.len()))] } else { vec![] };
        let (by_id, holder) = (false, Some((job, fence)));
        Transition::Grow(Growth {
            flow,
            nodes,
            joins,
            edges,
            by_id,
            holder,
            revision: None,
            key: self.maybe(3, &[0, 1]),
        })
    }

    /// A graph too large for one part and for one step, all of it or the first of its parts.
    fn large_flow(&mut self) -> Transition {
        let (flow, first) = (self.flows, self.jobs);
        self.flows += 1;
        if !self.mix.messages {
            self.jobs += LARGE;
            return Transition::SubmitLargeFlow { flow, first, jobs: LARGE, part: None };
        }
        self.jobs += IN_PARTS;
        self.staged = Some((flow, first, 1));
        Transition::SubmitLargeFlow { flow, first, jobs: IN_PARTS, part: Some(0) }
    }

    /// The next part of a large graph, or the one before it again. After the last one the first comes again.
    fn part(&mut self, (flow, first, next): (u32, u32, usize)) -> Transition {
        let again = self.chance.one_in(3);
        if !again {
            self.staged = (next <= IN_PARTS as usize / limits::FLOW_PART).then_some((flow, first, next + 1));
        }
        Transition::SubmitLargeFlow { flow, first, jobs: IN_PARTS, part: Some(next - usize::from(again)) }
    }

    /// A graph that is not refused, whose nodes start as soon as they may on the default lane.
    pub fn graph(&mut self) -> SubmitFlowArgs {
        loop {
            let mut graph = graph_of(&self.plan());
            for node in &mut graph.nodes {
                (node.policy, node.start, node.lane) = (Policy::default(), Start::Now, LaneId::default_name());
            }
            graph.header = FlowHeader::new(graph.header.kind);
            if graph.clone().plan().is_ok() {
                return graph;
            }
        }
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
            let from: Vec<_> = (near..to).filter(|_| chain || self.chance.one_in(2)).collect();
            nodes[to].join = self.join(from.len());
            edges.extend(from.iter().map(|from| (nodes[*from].work.job, nodes[to].work.job)));
        }
        let mut edges: Vec<_> = edges.into_iter().map(|(from, to)| self.link(from, to)).collect();
        leave_one_payload(&mut edges);
        if self.chance.one_in(3) {
            nodes.reverse();
            edges.reverse();
        }
        if self.chance.one_in(5) {
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
                edges.retain(|edge| (edge.from, edge.to) != (first, last));
                edges.push(Link { from: first, to: last, passes: None });
                edges.push(Link { from: last, to: first, passes: None });
            }
        }
    }

    /// A flow that is to be grown, rarely one that is there.
    fn creation(&mut self) -> Transition {
        let again = self.flows > 0 && self.chance.one_in(6);
        let flow = if again { self.flow() } else { self.flows };
        self.flows += u32::from(!again);
        Transition::CreateFlow { flow, namespace: u8::from(self.chance.one_in(10)), kind: self.number(2) }
    }

    /// New members of a flow, and edges among all it has.
    fn growth(&mut self, reference: &Reference) -> Growth {
        let grows = |flow: &Flow| !flow.state().is_terminal();
        let about = *self.chance.pick(&[0, 1, 1, 2, 2, 3, 4]);
        let flow = match about {
            0 => self.flow_that(reference, |flow| grows(flow) && flow.counts.live() < flow.counts.all()),
            1 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Skipped) > 0),
            2 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Completed) > 0),
            3 => self.flow_that(reference, |flow| grows(flow) && flow.held_open),
            _ => self.flow_that(reference, grows),
        };
        let nodes: Vec<_> = (0..*self.chance.pick(&[0, 1, 1, 2])).map(|_| self.node()).collect();
        let mut known: Vec<_> =
            reference.jobs().map(|(job, _)| job).filter(|job| flow_of(reference, *job) == Some(flow)).collect();
        known.extend(nodes.iter().map(|node| node.work.job));
        let strangers = [self.member(reference, |_| true), self.job(reference, |_| true)];
        let known_or_not = |generator: &mut Self| match generator.chance.below(8) {
            0 => *generator.chance.pick(&strangers),
            _ if known.is_empty() => u32::MAX - 1,
            _ => *generator.chance.pick(&known),
        };
        let is_over = |job: &u32| reference.model.find(&reference.id(*job)).is_some_and(Execution::is_finished);
        let mut over: Vec<_> = known.iter().copied().filter(is_over).collect();
        let end = |job: &u32| reference.model.find(&reference.id(*job)).map(Execution::public_state);
        let ends: Vec<_> = over.iter().map(end).collect::<BTreeSet<_>>().into_iter().collect();
        if !ends.is_empty() && !self.chance.one_in(4) {
            let skipped = Some(PublicState::Skipped);
            let one = if about == 1 && ends.contains(&skipped) { skipped } else { *self.chance.pick(&ends) };
            over.retain(|job| end(job) == one);
        }
        let mut edges: Vec<_> = (0..*self.chance.pick(&[0, 1, 1, 2, 3]))
            .map(|_| match nodes.last().filter(|_| !over.is_empty() && !self.chance.one_in(3)) {
                Some(new) => {
                    let from = *self.chance.pick(&over);
                    self.link(from, new.work.job)
                }
                None => {
                    let (one, other) = (known_or_not(self), known_or_not(self));
                    // Mostly forward, so that some are left that close no cycle.
                    let turned = one > other && !self.chance.one_in(3);
                    if turned { self.link(other, one) } else { self.link(one, other) }
                }
            })
            .collect();
        if !self.chance.one_in(4) {
            leave_one_payload(&mut edges);
        }
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
        let input = Pass::Input(u8::try_from(from % 200).unwrap());
        let passes = [None, Some(Pass::Payload), Some(input), Some(input), Some(Pass::Input(0))];
        Link { from, to, passes: *self.chance.pick(&passes[..4 + usize::from(from.is_multiple_of(9))]) }
    }

    fn join(&mut self, upstreams: usize) -> Join {
        let on_satisfied = *self.chance.pick(OnSatisfied::ALL);
        match self.chance.below(5) {
            0..2 if upstreams > 0 => Join::AnyOf { on_satisfied },
            2..4 if upstreams > 0 => {
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
            // A limit on the default lane would hold up whole flows.
            lane: *self.chance.pick(if self.mix.messages { &[1, 1, 0] } else { &[0, 0, 1] }),
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
