//! A flow to be submitted, put together from the names of its edges.

use std::collections::HashSet;

use ff_core::backend::Answer;
use ff_core::contracts::{EdgeSpec, GrowFlowArgs, GrownEdge, MemberRef, NodeSpec, SubmitFlowArgs, SubmittedFlow};
use ff_core::flow::{Join, OnSatisfied, PassMode};
use ff_core::payload::Payload;
use ff_core::policy::Backoff;
use ff_core::trace::TraceContext;
use ff_core::types::{FlowId, InputName, Kind, NodeName};

use super::{Flow, World};

/// A flow in the making.
#[derive(Clone)]
pub struct Graph {
    world: World,
    args: SubmitFlowArgs,
}

/// A member by its name.
pub(crate) fn named(name: &str) -> NodeName {
    NodeName::parse(name).unwrap()
}

/// A member by its name, with its name for bytes. It is not retried after a failure.
pub(crate) fn node(name: &str) -> NodeSpec {
    let mut node = NodeSpec::new(named(name), Kind::parse("work").unwrap(), Payload::bytes(name.as_bytes().to_vec()));
    node.policy.retry_policy.max_retries = 0;
    node.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 0, jitter: false };
    node
}

/// An edge between two names.
pub(crate) fn edge(from: &str, to: &str) -> EdgeSpec {
    EdgeSpec { upstream: named(from), downstream: named(to), passes: None }
}

/// An edge to be added between two names.
pub(crate) fn grown(from: &str, to: &str) -> GrownEdge {
    GrownEdge { upstream: member(from), downstream: member(to), passes: None }
}

/// A member by its name, where it could be named otherwise.
pub(crate) fn member(name: &str) -> MemberRef {
    MemberRef::Node(named(name))
}

/// Members and edges to be added to a flow.
pub(crate) fn growth(flow_id: FlowId, nodes: &[&str], edges: &[(&str, &str)]) -> GrowFlowArgs {
    GrowFlowArgs {
        nodes: nodes.iter().map(|name| node(name)).collect(),
        edges: edges.iter().map(|(from, to)| grown(from, to)).collect(),
        ..GrowFlowArgs::new(flow_id)
    }
}

/// The result under a name.
pub(crate) fn input(name: &str) -> Option<PassMode> {
    Some(PassMode::Input(InputName::parse(name).unwrap()))
}

/// One is enough; the others are cancelled.
pub(crate) fn any_of() -> Join {
    Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining }
}

/// So many are enough; the others are cancelled.
pub(crate) fn quorum(k: u32) -> Join {
    Join::Quorum { k, on_satisfied: OnSatisfied::CancelRemaining }
}

/// So many are enough; the others run on.
pub(crate) fn lenient(k: u32) -> Join {
    Join::Quorum { k, on_satisfied: OnSatisfied::LetRun }
}

impl Graph {
    /// As `a>b a>c x`: every edge by its ends, and nodes without any.
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

    /// Under this id.
    pub fn id(mut self, id: FlowId) -> Self {
        self.args.header.flow_id = id;
        self
    }

    /// In this trace.
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        self.args.header.trace = Some(Box::new(trace.clone()));
        self
    }

    /// How the edges into a member join.
    pub fn join(self, name: &str, join: Join) -> Self {
        self.with(name, |node| node.join = join)
    }

    /// A member that is to be different.
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut NodeSpec)) -> Self {
        change(self.args.nodes.iter_mut().find(|node| node.name.as_str() == name).unwrap());
        self
    }

    /// What an edge passes on.
    pub fn passing(mut self, from: &str, to: &str, passes: Option<PassMode>) -> Self {
        let sought = edge(from, to);
        let is_it =
            |known: &&mut EdgeSpec| (&known.upstream, &known.downstream) == (&sought.upstream, &sought.downstream);
        self.args.edges.iter_mut().find(is_it).unwrap().passes = passes;
        self
    }

    /// The arguments of the submission.
    pub fn args(self) -> SubmitFlowArgs {
        self.args
    }

    /// Hands it in, and expects it to be taken and there.
    pub async fn submit(self) -> Flow {
        let (world, flow_id) = (self.world.clone(), self.args.header.flow_id);
        self.try_submit().await.unwrap();
        let flow = Flow::new(world, flow_id);
        flow.settle().await;
        flow
    }

    /// Hands it in.
    pub async fn try_submit(self) -> Answer<SubmittedFlow> {
        self.world.backend.submit_flow(self.args).await
    }
}
