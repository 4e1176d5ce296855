//! One dependency between two members of a flow.

use serde::{Deserialize, Serialize};

use crate::execution::Outcome;
use crate::json::is_default;
use crate::state::text_enum;
use crate::types::{EdgeId, ExecutionId, FlowId, InputName};

/// An edge: the downstream member waits for the upstream member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub id: EdgeId,
    pub flow_id: FlowId,
    pub upstream_execution_id: ExecutionId,
    pub downstream_execution_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<PassMode>,
    /// The round of the group in which the edge counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round: u32,
    pub state: EdgeState,
    /// Size of the result that was passed on. Absent if the upstream has no result, or succeeded after the join fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_bytes: Option<u64>,
}

/// How the result of an upstream is passed on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PassMode {
    /// It replaces the downstream's payload.
    Payload,
    /// It is a named input, in addition to the payload.
    Input(InputName),
}

text_enum! {
    /// The state of an edge. Only the success of its upstream satisfies it; every other end makes it impossible.
    EdgeState {
        Pending "pending",
        Satisfied "satisfied",
        /// The upstream failed, was cancelled, or expired.
        Failed "failed",
        /// The upstream was skipped.
        Skipped "skipped",
    }
}

impl From<Outcome> for EdgeState {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Satisfied,
            Outcome::Failed | Outcome::Cancelled | Outcome::Expired => Self::Failed,
            Outcome::Skipped => Self::Skipped,
        }
    }
}
