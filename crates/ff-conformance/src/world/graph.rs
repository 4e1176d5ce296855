//! A flow to be submitted, built from the names of its edges.

use std::collections::HashSet;

use super::{Flow, World};
use crate::records::*;

/// A builder of flow submissions.
#[derive(Clone)]
pub struct Graph {
    world: World,
    args: SubmitFlowArgs,
}

/// Parses the name of a member.
pub(crate) fn named(name: &str) -> NodeName {
    NodeName::parse(name).unwrap()
}

/// Returns a member with its name as payload. It is not retried after a failure.
pub(crate) fn node(name: &str) -> NodeSpec {
    let mut node = NodeSpec::new(named(name), Kind::parse("work").unwrap(), Payload::bytes(name.as_bytes().to_vec()));
    node.policy.retry_policy.max_retries = 0;
    node.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 0, jitter: false };
    node
}

/// Returns an edge between two members.
pub(crate) fn edge(from: &str, to: &str) -> EdgeSpec {
    EdgeSpec { upstream: named(from), downstream: named(to), passes: None }
}

/// Returns an edge between two members, for growing a flow.
pub(crate) fn grown(from: &str, to: &str) -> EdgeAddition {
    EdgeAddition { upstream: member(from), downstream: member(to), passes: None }
}

/// Returns a reference to a member by its name.
pub(crate) fn member(name: &str) -> MemberRef {
    MemberRef::Node(named(name))
}

/// Returns the arguments that add members and edges to a flow.
pub(crate) fn growth(flow_id: FlowId, nodes: &[&str], edges: &[(&str, &str)]) -> GrowFlowArgs {
    GrowFlowArgs {
        nodes: nodes.iter().map(|name| node(name)).collect(),
        edges: edges.iter().map(|(from, to)| grown(from, to)).collect(),
        ..GrowFlowArgs::new(flow_id)
    }
}

/// Returns the pass mode that passes a result as an input of this name.
pub(crate) fn input(name: &str) -> Option<PassMode> {
    Some(PassMode::Input(InputName::parse(name).unwrap()))
}

/// Returns a join that needs one upstream and cancels the others.
pub(crate) fn any_of() -> Join {
    Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining }
}

/// Returns a join that needs `k` upstreams and cancels the others.
pub(crate) fn quorum(k: u32) -> Join {
    Join::Quorum { k, on_satisfied: OnSatisfied::CancelRemaining }
}

/// Returns a join that needs `k` upstreams and lets the others run.
pub(crate) fn lenient(k: u32) -> Join {
    Join::Quorum { k, on_satisfied: OnSatisfied::LetRun }
}

impl Graph {
    /// Builds a graph from a text such as `a>b a>c x`: every edge by its ends, and members without edges.
    pub(super) fn new(world: World, text: &str) -> Self {
        let header = world.new_flow();
        let mut graph = Self { world, args: SubmitFlowArgs { header, nodes: vec![], edges: vec![] } };
        let mut known = HashSet::new();
        for word in text.split_whitespace() {
            let ends: Vec<_> = word.split('>').collect();
            graph.args.nodes.extend(ends.iter().filter(|name| known.insert(**name)).map(|name| node(name)));
            graph.args.edges.extend(ends.windows(2).map(|ends| edge(ends[0], ends[1])));
        }
        graph
    }

    /// Sets the flow id.
    pub fn id(mut self, id: FlowId) -> Self {
        self.args.header.flow_id = id;
        self
    }

    /// Sets the trace context.
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        self.args.header.trace = Some(Box::new(trace.clone()));
        self
    }

    /// Sets the join of the edges into a member.
    pub fn join(self, name: &str, join: Join) -> Self {
        self.with(name, |node| node.join = join)
    }

    /// Changes a member.
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut NodeSpec)) -> Self {
        change(self.args.nodes.iter_mut().find(|node| node.name.as_str() == name).unwrap());
        self
    }

    /// Sets the pass mode of an edge.
    pub fn passing(mut self, from: &str, to: &str, passes: Option<PassMode>) -> Self {
        let sought = edge(from, to);
        let is_it =
            |known: &&mut EdgeSpec| (&known.upstream, &known.downstream) == (&sought.upstream, &sought.downstream);
        self.args.edges.iter_mut().find(is_it).unwrap().passes = passes;
        self
    }

    /// Returns the arguments of the submission.
    pub fn args(self) -> SubmitFlowArgs {
        self.args
    }

    /// Submits the flow, checks that it is accepted, and fires due work on its partition.
    pub async fn submit(self) -> Flow {
        let (world, flow_id) = (self.world.clone(), self.args.header.flow_id);
        self.try_submit().await.unwrap();
        let flow = Flow::new(world, flow_id);
        flow.settle().await;
        flow
    }

    /// Submits the flow.
    pub async fn try_submit(self) -> Answer<SubmittedFlow> {
        self.world.backend.submit_flow(self.args).await
    }
}
