//! A rule's decision about a flow: the record and its further writes.

use serde::{Deserialize, Serialize};

use crate::flow::{Edge, EdgeState, Flow, FlowEvent, Group};
use crate::types::{EdgeId, ExecutionId, IdempotencyKey, TimestampMs};

/// The effect of a rule on one flow, as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowChange {
    pub after: Flow,
    /// Edges to write.
    pub edges: Vec<Edge>,
    /// Groups to write.
    pub groups: Vec<Group>,
    /// Events to append to the events of the flow.
    pub events: Vec<FlowEvent>,
    /// The idempotency key of a graph change to remember.
    pub key: Option<FlowKeyEntry>,
    /// Members to delete with all their records, their groups and the edges into them.
    pub forgotten: Vec<ExecutionId>,
    /// Whether the flow itself is deleted.
    pub gone: bool,
}

impl FlowChange {
    pub(crate) fn of(after: Flow) -> Self {
        let (edges, groups, events, forgotten) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { after, edges, groups, events, key: None, forgotten, gone: false }
    }
}

/// A remembered idempotency key of a graph change, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowKeyEntry {
    pub key: IdempotencyKey,
    pub answer: GrownFlow,
    pub until: TimestampMs,
}

/// Result of a graph change, remembered under its idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrownFlow {
    pub graph_revision: u64,
    /// Executions of the new nodes, in request order.
    pub members: Vec<ExecutionId>,
    /// The new edges, in request order. An edge from an ended upstream is already resolved.
    pub edges: Vec<(EdgeId, EdgeState)>,
}
