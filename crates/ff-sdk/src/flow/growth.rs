//! Members and edges to add to a live flow.

use ff_core::contracts::{EdgeAddition, EdgeSpec, GrowFlowArgs, JoinSpec, MemberRef};
use ff_core::engine_error::Refusal;
use ff_core::flow::{Join, PassMode};
use ff_core::types::{FlowId, IdempotencyKey};

use super::Node;
use super::draft::Draft;
use crate::Error;

/// An addition to a flow's graph, made as a whole or not at all. Edges may name existing members.
#[derive(Debug)]
pub struct Growth {
    draft: Result<Draft, Error>,
    expected_graph_revision: Option<u64>,
    idempotency_key: Option<IdempotencyKey>,
}

impl Default for Growth {
    fn default() -> Self {
        Self::new()
    }
}

impl Growth {
    /// Creates an empty addition.
    pub fn new() -> Self {
        Self { draft: Ok(Draft::default()), expected_graph_revision: None, idempotency_key: None }
    }

    /// Adds a member under a name that is new in the flow.
    pub fn node(self, name: &str, node: Node) -> Self {
        self.draw(|draft| draft.node(name, node))
    }

    /// Adds an edge: `node` waits for `upstream`. Following calls about passing and joining refer to this edge and `node`.
    pub fn after(self, node: &str, upstream: &str) -> Self {
        self.draw(|draft| draft.after(node, std::iter::once(upstream)))
    }

    /// Adds edges: `node` waits for each of these upstreams.
    pub fn after_each<'n>(self, node: &str, upstreams: impl IntoIterator<Item = &'n str>) -> Self {
        self.draw(|draft| draft.after(node, upstreams.into_iter()))
    }

    /// Passes the result of the last edge's upstream to the worker as an input of this name, in addition to the payload.
    pub fn passing(self, input: &str) -> Self {
        self.draw(|draft| draft.passes_input(input))
    }

    /// Replaces the payload of the node by the result of the last edge's upstream.
    pub fn passing_payload(self) -> Self {
        self.draw(|draft| draft.passes(&PassMode::Payload))
    }

    /// Sets how the edges into the node named last join. A member that already has edges keeps its join.
    pub fn join(self, join: impl Into<Join>) -> Self {
        self.draw(|draft| draft.join(join.into()))
    }

    /// Refuses the change if the graph has changed since it had this revision.
    pub fn expecting(mut self, graph_revision: u64) -> Self {
        self.expected_graph_revision = Some(graph_revision);
        self
    }

    /// Sets the idempotency key: a second change to this flow with this key is the same change.
    pub fn idempotency_key(mut self, key: &str) -> Self {
        match IdempotencyKey::parse(key) {
            Ok(key) => self.idempotency_key = Some(key),
            Err(error) => self.draft = self.draft.and(Err(Refusal::invalid("idempotency_key", error).into())),
        }
        self
    }

    /// Returns the arguments of the change, or the first error in it.
    pub fn build(self, flow_id: FlowId) -> Result<GrowFlowArgs, Error> {
        let mut draft = self.draft?;
        let joins = draft.settle().into_iter().map(|(node, join)| JoinSpec { member: MemberRef::Node(node), join });
        let joins = joins.collect();
        let edge = |edge: EdgeSpec| EdgeAddition {
            upstream: MemberRef::Node(edge.upstream),
            downstream: MemberRef::Node(edge.downstream),
            passes: edge.passes,
        };
        let args = GrowFlowArgs {
            expected_graph_revision: self.expected_graph_revision,
            nodes: draft.nodes,
            joins,
            edges: draft.edges.into_iter().map(edge).collect(),
            idempotency_key: self.idempotency_key,
            ..GrowFlowArgs::new(flow_id)
        };
        args.check()?;
        Ok(args)
    }

    fn draw(mut self, add: impl FnOnce(&mut Draft) -> Result<(), Error>) -> Self {
        if let Ok(draft) = &mut self.draft
            && let Err(error) = add(draft)
        {
            self.draft = Err(error);
        }
        self
    }
}
