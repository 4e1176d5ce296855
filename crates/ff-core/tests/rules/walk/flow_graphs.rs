//! Random graphs, and what must become of them: told from the joins alone, not from code that changes records.

use std::collections::HashMap;

use ff_core::contracts::{EdgeSpec, FlowHeader, NodeSpec, Start, SubmitFlowArgs};
use ff_core::execution::Outcome;
use ff_core::flow::{Join, OnSatisfied, Passing};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::types::{FlowId, InputName, Kind, NodeName};
use uuid::Uuid;

use super::splitmix::SplitMix;

/// What a random graph is made of.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) nodes: usize,
    /// In a hundred of all edges there could be.
    pub(crate) edges: usize,
    /// Whether upstreams may be cancelled when a join has fired.
    pub(crate) cancelling: bool,
    /// Whether everything depends on the first node.
    pub(crate) hub: bool,
}

/// A graph whose edges go from a node to a later one, given in any order.
pub(crate) fn graph(random: &mut SplitMix, shape: Shape) -> SubmitFlowArgs {
    let uuid = Uuid::from_u128((0x0190_0000_0000_7000_8000 << 48) | u128::from(random.next() >> 16));
    let header =
        FlowHeader { flow_id: FlowId::from_uuid(uuid), ..FlowHeader::new(Kind::parse("etl").expect("a name")) };
    let mut nodes: Vec<_> = (0..shape.nodes).map(|n| node(random, n)).collect();
    let mut edges = Vec::new();
    for to in 1..shape.nodes {
        let upstreams: Vec<_> =
            (0..to).filter(|from| random.chance(shape.edges) || (shape.hub && *from == 0)).collect();
        nodes[to].join = join(random, upstreams.len(), shape.cancelling);
        let mut injected = false;
        edges.extend(upstreams.into_iter().map(|from| EdgeSpec {
            upstream: name(from),
            downstream: name(to),
            passes: passing(random, from, &mut injected),
        }));
    }
    for last in (1..edges.len()).rev() {
        edges.swap(last, random.below(last + 1));
    }
    SubmitFlowArgs { header, nodes, edges }
}

pub(crate) fn name(n: usize) -> NodeName {
    NodeName::parse(&format!("n{n}")).expect("a name")
}

pub(crate) fn node(random: &mut SplitMix, n: usize) -> NodeSpec {
    let policy = Policy {
        retry_policy: RetryPolicy {
            max_retries: random.pick(&[0, 0, 1]),
            backoff: Backoff::Fixed { delay_ms: random.pick(&[0, 500]), jitter: false },
            retryable_categories: vec![],
        },
        timeout_policy: TimeoutPolicy {
            attempt_timeout_ms: random.chance(10).then_some(800),
            execution_deadline_ms: random.chance(10).then(|| random.pick(&[500, 4_000])),
        },
        max_reclaim_count: random.pick(&[0, 1]),
        max_replay_count: random.pick(&[0, 1, 2]),
        ..Policy::default()
    };
    let start = if random.chance(10) { Start::After(700) } else { Start::Now };
    NodeSpec { policy, start, ..NodeSpec::new(name(n), Kind::parse("work").expect("a name"), Payload::json("1")) }
}

pub(crate) fn join(random: &mut SplitMix, upstreams: usize, cancelling: bool) -> Join {
    let on_satisfied = if cancelling && random.chance(50) { OnSatisfied::CancelRemaining } else { OnSatisfied::LetRun };
    match random.below(4) {
        0 if upstreams > 0 => Join::AnyOf { on_satisfied },
        1 if upstreams > 0 => {
            let k = u32::try_from(1 + random.below(upstreams)).expect("few upstreams");
            Join::Quorum { k, on_satisfied }
        }
        _ => Join::AllOf,
    }
}

/// What an edge passes on; the payload, as long as no other edge into the same node does.
fn passing(random: &mut SplitMix, from: usize, injected: &mut bool) -> Option<Passing> {
    match random.below(4) {
        0 if !std::mem::replace(injected, true) => Some(Passing::Payload),
        1 => Some(Passing::Input(InputName::parse(&format!("from-{from}")).expect("a name"))),
        _ => None,
    }
}

/// How every node must end, when what runs ends as it is told to and nothing else happens. Where upstreams run on, the
/// order in which they end makes no difference.
pub(crate) fn expected(graph: &SubmitFlowArgs, told: &HashMap<NodeName, Outcome>) -> HashMap<NodeName, Outcome> {
    let mut ends: HashMap<NodeName, Outcome> = HashMap::new();
    while ends.len() < graph.nodes.len() {
        for node in &graph.nodes {
            let upstreams = graph.edges.iter().filter(|edge| edge.downstream == node.name);
            let known: Option<Vec<_>> = upstreams.map(|edge| ends.get(&edge.upstream).copied()).collect();
            let Some(known) = known else { continue };
            let successes = known.iter().filter(|outcome| **outcome == Outcome::Success).count();
            let holds = match node.join {
                Join::AllOf => successes == known.len(),
                Join::AnyOf { .. } => successes >= 1,
                Join::Quorum { k, .. } => successes >= k as usize,
            };
            ends.insert(node.name.clone(), if holds { told[&node.name] } else { Outcome::Skipped });
        }
    }
    ends
}
