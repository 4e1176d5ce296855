//! The change of a flow that a rule decided, beside those of executions.

use serde::{Deserialize, Serialize};

use crate::flow::{Edge, EdgeState, Flow, FlowEvent, Group};
use crate::types::{EdgeId, ExecutionId, IdempotencyKey, TimestampMs};

/// The effect of a rule on one flow, as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowChange {
    pub after: Flow,
    /// Edges as they are to be.
    pub edges: Vec<Edge>,
    /// Groups as they are to be.
    pub groups: Vec<Group>,
    /// Events to be added to the flow's events.
    pub events: Vec<FlowEvent>,
    /// The key of a change to the graph to remember.
    pub key: Option<FlowKeyEntry>,
    /// Members that go, with everything of them, their groups and the edges into them.
    pub forgotten: Vec<ExecutionId>,
    /// The flow itself goes as well.
    pub gone: bool,
}

impl FlowChange {
    pub(crate) fn of(after: Flow) -> Self {
        let (edges, groups, events, forgotten) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { after, edges, groups, events, key: None, forgotten, gone: false }
    }
}

/// The key of a change to a flow's graph, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowKeyEntry {
    pub key: IdempotencyKey,
    pub answer: GrownFlow,
    pub until: TimestampMs,
}

/// Result of a graph change, remembered under its idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrownFlow {
    pub graph_revision: u64,
    /// Executions of the new nodes, in request order.
    pub members: Vec<ExecutionId>,
    /// The new edges, in request order. An edge from an ended upstream is already resolved.
    pub edges: Vec<(EdgeId, EdgeState)>,
}
