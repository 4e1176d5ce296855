//! Random graphs for the walk: few nodes that depend on each other a lot, and now and then more than one call takes.

use ff_core::contracts::{EdgeSpec, FlowHeader, NodeSpec, Start, SubmitFlowArgs};
use ff_core::flow::{Join, OnSatisfied, Passing};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::types::{InputName, Kind, NodeName};

use super::chance::Chance;

/// More nodes than are taken in one call, and than one step looks at.
const MANY: usize = 130;

/// Everything a flow is made of, in no particular order. Edges go from a node to a later one.
pub(super) fn graph(chance: &mut Chance, header: FlowHeader) -> SubmitFlowArgs {
    let many = chance.one_in(20);
    let count = if many { MANY } else { 1 + chance.below(7) };
    let one_edge_in = if many { 60 } else { chance.pick(&[2, 3, 9]) };
    let mut nodes: Vec<_> = (0..count).map(|n| node(chance, n)).collect();
    let mut edges = Vec::new();
    for (to, node) in nodes.iter_mut().enumerate() {
        let upstreams: Vec<_> = (0..to).filter(|_| chance.one_in(one_edge_in)).collect();
        node.join = join(chance, upstreams.len());
        let mut injected = false;
        edges.extend(upstreams.into_iter().map(|from| EdgeSpec {
            upstream: name(from),
            downstream: name(to),
            passes: passing(chance, from, &mut injected),
        }));
    }
    for last in (1..edges.len()).rev() {
        edges.swap(last, chance.below(last + 1));
    }
    SubmitFlowArgs { header, nodes, edges }
}

pub(super) fn name(n: usize) -> NodeName {
    NodeName::parse(&format!("n{n}")).unwrap()
}

/// A node that may be tried again, be late, or be put off.
pub(super) fn node(chance: &mut Chance, n: usize) -> NodeSpec {
    let policy = Policy {
        retry_policy: RetryPolicy {
            max_retries: chance.pick(&[0, 0, 1]),
            backoff: Backoff::Fixed { delay_ms: chance.pick(&[0, 500]), jitter: false },
            retryable_categories: vec![],
        },
        timeout_policy: TimeoutPolicy {
            attempt_timeout_ms: chance.maybe(10, &[800]),
            execution_deadline_ms: chance.maybe(10, &[500, 40_000]),
        },
        max_reclaim_count: chance.pick(&[0, 1]),
        max_replay_count: chance.pick(&[0, 1, 2]),
        ..Policy::default()
    };
    NodeSpec {
        policy: chance.maybe(2, &[Policy::default()]).unwrap_or(policy),
        start: chance.maybe(10, &[Start::After(700)]).unwrap_or(Start::Now),
        ..NodeSpec::new(name(n), Kind::parse("work").unwrap(), Payload::json("1"))
    }
}

pub(super) fn join(chance: &mut Chance, upstreams: usize) -> Join {
    let on_satisfied = chance.pick(OnSatisfied::ALL);
    match chance.below(4) {
        0 if upstreams > 0 => Join::AnyOf { on_satisfied },
        1 if upstreams > 0 => Join::Quorum { k: u32::try_from(1 + chance.below(upstreams)).unwrap(), on_satisfied },
        _ => Join::AllOf,
    }
}

/// What an edge passes on; the payload, as long as no other edge into the same node does.
pub(super) fn passing(chance: &mut Chance, from: usize, injected: &mut bool) -> Option<Passing> {
    match chance.below(4) {
        0 if !std::mem::replace(injected, true) => Some(Passing::Payload),
        1 => Some(Passing::Input(InputName::parse(&format!("from-{from}")).unwrap())),
        _ => None,
    }
}
