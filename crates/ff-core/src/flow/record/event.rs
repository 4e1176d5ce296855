//! The events of a flow: every change of a member's state, and of the flow itself, numbered without gaps.

use serde::{Deserialize, Serialize};

use crate::flow::{CancelPolicy, FlowState};
use crate::state::PublicState;
use crate::types::{ExecutionId, NodeName, TimestampMs};

/// An event of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowEvent {
    /// Its number in the flow, from 0.
    pub seq: u64,
    pub at: TimestampMs,
    #[serde(flatten)]
    pub what: FlowEventKind,
}

/// The kind of a flow event, and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FlowEventKind {
    /// The flow was created, with this many members and edges.
    Opened {
        nodes: u32,
        edges: u32,
    },
    /// Members or edges were added.
    Grown {
        nodes: u32,
        edges: u32,
        graph_revision: u64,
    },
    /// A member changed its state.
    Moved {
        node: NodeName,
        execution_id: ExecutionId,
        from: PublicState,
        to: PublicState,
    },
    /// The flow was closed: it ends when its last member ends.
    Closed,
    Cancelled {
        policy: CancelPolicy,
    },
    Ended {
        state: FlowState,
    },
    /// The flow had ended, and a member runs again.
    Reopened,
}
