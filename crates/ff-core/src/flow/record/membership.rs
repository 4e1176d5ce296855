//! The membership of an execution in a flow; absent for an execution in none.

use serde::{Deserialize, Serialize};

use crate::types::{EdgeId, FlowId, NodeName, TimestampMs};

/// An execution's place in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    pub flow_id: FlowId,
    pub node: NodeName,
    /// How many members were there before it.
    pub position: u32,
    /// Edges that leave it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dependents: u32,
    /// The bytes of its result, if it has one, for the dependents it is passed on to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// The named inputs it was given, and their bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inputs: u32,
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub input_bytes: u64,
    /// The bytes of the upstream's result that took the place of its payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_bytes: Option<u64>,
    /// The end or replay that its dependents have not all been notified of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_propagation: Option<PendingPropagation>,
    /// Its join fired, and not all other upstreams were looked at yet.
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

/// The news for a member's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "owed", rename_all = "snake_case")]
pub enum Propagation {
    /// How it ended.
    End,
    /// That it runs again.
    Replay {
        /// Whether dependents that have finished run again as well.
        reopen: bool,
    },
}

/// How far the other upstreams of a join that fired were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Siblings {
    pub since: TimestampMs,
    /// The last edge into it whose upstream was dealt with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EdgeId>,
    /// The last edge out of the next upstream that does not need it.
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none_of(bytes: &u64) -> bool {
    *bytes == 0
}
