//! A flow that is made first and grows while it lives.

use serde::{Deserialize, Serialize};

use super::staging::check_call;
use super::{FlowHeader, NodeSpec};
use crate::engine_error::{Code, Refusal};
use crate::execution::Tags;
use crate::flow::{EdgeState, FlowState, Join, Passing};
use crate::lease::Fence;
use crate::limits;
use crate::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, NodeName, TimestampMs};

/// A flow without members yet. It stays open until it is closed, so that it does not end between two that are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFlowArgs {
    pub header: FlowHeader,
}

/// A member of a flow, by whichever is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberRef {
    Node(NodeName),
    Execution(ExecutionId),
}

/// An edge to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrownEdge {
    pub upstream: MemberRef,
    pub downstream: MemberRef,
    pub passes: Option<Passing>,
}

/// How the edges into a member are to join. Fixed with its first edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinSpec {
    pub member: MemberRef,
    pub join: Join,
}

/// Members and edges for a flow that lives; all of them, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowFlowArgs {
    pub flow_id: FlowId,
    /// Only if the graph has not changed since; whatever it is when absent.
    pub expected_graph_revision: Option<u64>,
    pub nodes: Vec<NodeSpec>,
    pub joins: Vec<JoinSpec>,
    pub edges: Vec<GrownEdge>,
    /// Who grows it from within: a running member may get edges only in its holder's name, to wait for its children.
    pub holder: Option<(ExecutionId, Fence)>,
    /// Under which the change is known again.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl GrowFlowArgs {
    /// Nothing to be added yet.
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
        if self.joins.len() > limits::FLOW_CALL_NODES {
            return Err(Refusal::over_limit(Code::LimitExceeded, "joins", limits::FLOW_CALL_NODES, self.joins.len()));
        }
        self.joins.iter().try_for_each(|spec| spec.join.check(&format!("joins.{}", spec.member)))
    }
}

impl std::fmt::Display for MemberRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(name) => name.fmt(f),
            Self::Execution(id) => id.fmt(f),
        }
    }
}

/// The graph has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grown {
    pub graph_revision: u64,
    /// The executions of the new nodes, in the order they were given.
    pub members: Vec<ExecutionId>,
    /// The new edges, in the order they were given: one onto an upstream that has ended stands accordingly.
    pub edges: Vec<(EdgeId, EdgeState)>,
}

/// No more members are to come: the flow ends with its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseFlowArgs {
    pub flow_id: FlowId,
}

/// The flow is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedFlow {
    pub state: FlowState,
    /// True when it was closed before.
    pub already: bool,
}

/// Labels to be put on a flow, beside those it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFlowTagsArgs {
    pub flow_id: FlowId,
    pub tags: Tags,
}

/// The labels of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaggedFlow {
    pub tags: Tags,
}

/// The dependents of an execution that ended are to be told, as far as one step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CascadeArgs {
    pub execution_id: ExecutionId,
    /// Only the end that is owed since then is told, and nothing when it is owed no longer. Unless said, whatever is owed
    /// is told, and where nothing is, every edge is looked at.
    pub owed_since: Option<TimestampMs>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cascaded {
    /// Edges that were settled.
    pub resolved: u32,
    /// Executions that ended with it: skipped, or cancelled because nobody needs them any more.
    pub cascaded_children: u32,
    /// Whether some of it is still owed.
    pub more: bool,
}
