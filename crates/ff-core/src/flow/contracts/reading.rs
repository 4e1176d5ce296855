//! A flow, its members, its edges and its events, as callers see them.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Refusal, check_page};
use crate::execution::{Failure, Tags};
use crate::flow::{Counts, EdgeState, FlowCancel, FlowEvent, FlowState, GroupState, Join, PassMode};
use crate::limits;
use crate::state::PublicState;
use crate::trace::TraceContext;
use crate::types::{EdgeId, ExecutionId, FlowId, Kind, LaneId, Namespace, NodeName, TimestampMs};

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowInfo {
    pub flow_id: FlowId,
    pub namespace: Namespace,
    pub kind: Kind,
    pub state: FlowState,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub graph_revision: u64,
    pub nodes: u32,
    pub edges: u32,
    /// Exact number of members in each state.
    pub counts: Counts,
    /// True while the flow is held open: it does not end with its last member.
    pub held_open: bool,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<FlowCancel>,
    /// The trace it was submitted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

/// How a flow ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowEnd {
    pub flow_id: FlowId,
    pub state: FlowState,
    pub at: TimestampMs,
    pub counts: Counts,
}

/// A request for a page of the members of a flow, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMembersArgs {
    pub flow_id: FlowId,
    /// Position of the first member.
    pub from: u32,
    pub limit: usize,
}

impl FlowMembersArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// A member of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemberInfo {
    pub node: NodeName,
    pub position: u32,
    pub execution_id: ExecutionId,
    pub kind: Kind,
    pub lane_id: LaneId,
    pub public_state: PublicState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<TimestampMs>,
    pub attempts_made: u32,
    pub replays: u32,
    /// The last failure of this run, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Join of the edges into it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupInfo>,
}

/// The join of the edges into a member, and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GroupInfo {
    pub join: Join,
    pub state: GroupState,
    pub n: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// One page of the members of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MembersPage {
    pub members: Vec<MemberInfo>,
    /// Start of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// A request for a page of the edges of a flow, in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEdgesArgs {
    pub flow_id: FlowId,
    pub after: Option<EdgeId>,
    pub limit: usize,
}

impl FlowEdgesArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// An edge of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EdgeInfo {
    pub edge_id: EdgeId,
    pub upstream_execution_id: ExecutionId,
    pub downstream_execution_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<PassMode>,
    pub state: EdgeState,
}

/// One page of the edges of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EdgesPage {
    pub edges: Vec<EdgeInfo>,
    /// Start of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<EdgeId>,
}

/// A request for a page of the events of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEventsArgs {
    pub flow_id: FlowId,
    /// The number of the first event to read.
    pub from: u64,
    pub limit: usize,
}

impl FlowEventsArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// One page of events of a flow, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowEventsPage {
    pub events: Vec<FlowEvent>,
    /// The `from` of the next request.
    pub next: u64,
    /// True when events before the first were trimmed.
    pub missed: bool,
    /// True when the flow has ended; no event follows unless a member is replayed.
    pub ended: bool,
}
