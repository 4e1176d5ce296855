//! The membership of an execution in a flow; absent for an execution in none.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::types::{EdgeId, FlowId, NodeName, TimestampMs};

/// An execution's place in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    pub flow_id: FlowId,
    pub node: NodeName,
    /// Number of members that were added before it.
    pub position: u32,
    /// Number of edges that leave it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dependents: u32,
    /// Size of its result, if it has one, for the dependents that receive the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// Number of named inputs that it received. `input_bytes` is their total size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inputs: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_bytes: u64,
    /// Size of the upstream result that replaced its payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_bytes: Option<u64>,
    /// The end or replay that its dependents have not all been notified of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_propagation: Option<PendingPropagation>,
    /// Present while other upstreams of its fired join remain to be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub siblings: Option<Siblings>,
}

/// A propagation that has not reached all of a member's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPropagation {
    pub since: TimestampMs,
    #[serde(flatten)]
    pub what: Propagation,
    /// The last edge that was notified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EdgeId>,
}

/// The notification for a member's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "owed", rename_all = "snake_case")]
pub enum Propagation {
    /// The member ended.
    End,
    /// The member runs again.
    Replay {
        /// Whether dependents that have finished run again as well.
        reopen: bool,
    },
}

/// The progress of checking the other upstreams of a join that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Siblings {
    pub since: TimestampMs,
    /// The last edge into the member whose upstream was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EdgeId>,
    /// The last checked edge out of the next upstream. No dependent up to this edge needs the upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<EdgeId>,
}

impl Membership {
    pub(crate) fn new(flow_id: FlowId, node: NodeName, position: u32) -> Self {
        Self {
            flow_id,
            node,
            position,
            dependents: 0,
            result_bytes: None,
            inputs: 0,
            input_bytes: 0,
            injected_bytes: None,
            pending_propagation: None,
            siblings: None,
        }
    }
}
