//! Random graphs and the transitions that submit them.

use std::collections::BTreeSet;

use super::{Generator, routed};
use crate::prelude::*;
use crate::reference::graph_of;
use crate::transition::{Link, Node, Pass, Plan, Policies, Submission, Transition};

/// Number of nodes of a graph that is too large for one step.
const LARGE: u32 = 60;
const _: () = assert!(LARGE as usize > limits::MAX_CASCADE_DEPTH);

/// Number of nodes of a graph whose parts are submitted in separate transitions.
const IN_PARTS: u32 = 40;
const _: () = assert!(IN_PARTS as usize > limits::FLOW_STEP);

/// Number of nodes of a chain that is too long to be skipped in one step.
const CHAIN: u32 = 24;
const _: () = assert!(CHAIN as usize > limits::FLOW_STEP);

impl Generator {
    /// Chooses a graph that is too large for one part and for one step. Submits all of it, or the first of its parts if
    /// the mix has messages.
    pub(super) fn large_flow(&mut self) -> Transition {
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

    /// Chooses the next part of a large graph, or the previous part again. After the last part, the first part comes
    /// again.
    pub(super) fn part(&mut self, (flow, first, next): (u32, u32, usize)) -> Transition {
        let again = self.chance.one_in(3);
        if !again {
            self.staged = (next <= IN_PARTS as usize / limits::FLOW_PART).then_some((flow, first, next + 1));
        }
        Transition::SubmitLargeFlow { flow, first, jobs: IN_PARTS, part: Some(next - usize::from(again)) }
    }

    /// Returns a valid graph whose nodes start as soon as possible on the default lane.
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

    /// Chooses a graph whose edges go from a node to a later node, or a graph that must be refused.
    pub(super) fn plan(&mut self) -> Plan {
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

    /// Makes a graph invalid.
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

    pub(super) fn link(&mut self, from: u32, to: u32) -> Link {
        let input = Pass::Input(u8::try_from(from % 200).unwrap());
        let passes = [None, Some(Pass::Payload), Some(input), Some(input), Some(Pass::Input(0))];
        Link { from, to, passes: *self.chance.pick(&passes[..4 + usize::from(from.is_multiple_of(9))]) }
    }

    pub(super) fn join(&mut self, upstreams: usize) -> Join {
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

    pub(super) fn node(&mut self) -> Node {
        let job = self.next_job();
        let work = Submission {
            job,
            namespace: 0,
            // Members mostly avoid the default lane when it has a limit, which would delay whole flows.
            lane: *self.chance.pick(if self.mix.messages { &[1, 1, 0] } else { &[0, 0, 1] }),
            kind: *self.chance.pick(&[0, 0, 1]),
            payload: if self.chance.one_in(300) { limits::PAYLOAD_BYTES + 1 } else { 3 },
            priority: *self.chance.pick(&[0, 0, 1]),
            tags: *self.chance.pick(&[0, 0, 2]),
            key: None,
            rule: None,
            start: *self.chance.pick(&[Start::Now, Start::Now, Start::Now, Start::After(2_000)]),
            policy: routed(
                job,
                *self.chance.pick(&[
                    Policies::Default,
                    Policies::Default,
                    Policies::Tight,
                    Policies::None,
                    Policies::None,
                    Policies::Timed,
                ]),
            ),
        };
        Node { work, join: Join::AllOf }
    }
}

/// Leaves at most one edge into each node that passes the payload. The growth of a flow sometimes keeps two, which is
/// refused.
pub(super) fn leave_one_payload(edges: &mut [Link]) {
    let mut injected = BTreeSet::new();
    for edge in edges.iter_mut().filter(|edge| edge.passes == Some(Pass::Payload)) {
        if !injected.insert(edge.to) {
            edge.passes = None;
        }
    }
}
