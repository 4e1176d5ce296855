//! The flow: a graph of executions that ends with its last member.

mod change;
mod counts;
mod edge;
mod event;
mod group;
mod index;
mod info;
mod membership;

pub use change::{FlowChange, FlowKeyEntry, GrownFlow};
pub use counts::Counts;
pub use edge::{Edge, EdgeState, PassMode};
pub use event::{FlowEvent, FlowEventKind};
pub use group::{Group, GroupState, Join, OnSatisfied};
pub use index::{FlowIndex, entries, grace_ends};
pub use membership::{Membership, PendingPropagation, Propagation, Siblings};

use serde::{Deserialize, Serialize};

use crate::execution::{AttemptSlot, Execution, Tags};
use crate::limits;
use crate::payload::Fingerprint;
use crate::state::text_enum;
use crate::trace::TraceContext;
use crate::types::{ExecutionId, FlowId, Kind, Namespace, TimestampMs};

/// One graph of executions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    pub id: FlowId,
    pub namespace: Namespace,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// The partition of the flow and all its records.
    pub partition: u16,
    pub created_at: TimestampMs,
    /// Rises with every change of the graph.
    pub graph_revision: u64,
    pub nodes: u32,
    pub edges: u32,
    /// Total size of the members' payloads.
    pub payload_bytes: u64,
    /// Number of members in each state.
    pub counts: Counts,
    /// Number of members without dependents that ended without success. The flow fails if there is one.
    #[serde(default)]
    pub failed_leaves: u32,
    /// Fingerprint of the submitted graph. Absent if the flow was created without members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Present while the flow is submitted in parts and therefore invisible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// Whether the flow stays open, because more members may come: it does not end with its last member.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_open: bool,
    /// When the first of its members was claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<FlowCancel>,
    /// The running sweep over its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member_sweep: Option<MemberSweep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<TimestampMs>,
    /// Number of events recorded so far, which is the sequence number of the next event.
    #[serde(default)]
    pub events: u64,
    /// Retention after the end of the flow: the longest retention of its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_ms: Option<u64>,
    /// The trace of the submission, which all members share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

/// A submission that waits for its last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    /// Number of parts received, which is the number of the next part.
    pub parts: u32,
    /// Number of joins that have fewer upstreams than they need so far.
    #[serde(default)]
    pub short: u32,
    /// Time at which the submission is abandoned.
    pub until: TimestampMs,
}

/// The cancellation of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlowCancel {
    pub policy: CancelPolicy,
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
}

/// An action on every member of a flow, in the order of their ids, in bounded steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSweep {
    pub action: SweepAction,
    pub since: TimestampMs,
    /// The last processed member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ExecutionId>,
    /// Number of processed members.
    #[serde(default)]
    pub seen: u32,
}

text_enum! {
    /// The action of a member sweep.
    SweepAction {
        /// Staged members begin to wait for their upstreams or a worker.
        Open "open",
        /// Members that the policy does not spare are cancelled.
        Cancel "cancel",
        /// Members of an abandoned staging are forgotten.
        Discard "discard",
        /// Members whose retention is over are forgotten.
        Forget "forget",
    }

    /// State of a flow.
    FlowState {
        /// Partly submitted; not visible yet.
        Staging "staging",
        /// No member has started.
        Open "open",
        Running "running",
        /// Every member without dependents has succeeded.
        Completed "completed",
        /// Every member has ended, and one without dependents ended without success.
        Failed "failed",
        Cancelled "cancelled",
    }

    /// What cancelling a flow does to its members.
    CancelPolicy {
        /// Every member is cancelled.
        CancelAll "cancel_all",
        /// Members that never started are cancelled; the others continue.
        CancelPending "cancel_pending",
        /// Running attempts may finish; nothing else starts, not even a retry.
        LetActiveFinish "let_active_finish",
        /// The flow accepts no more members; existing ones continue.
        FlowOnly "flow_only",
    }
}

impl FlowState {
    /// Returns whether the state is terminal.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl CancelPolicy {
    /// Returns whether the policy lets a member continue.
    pub fn spares(self, member: &Execution) -> bool {
        match self {
            Self::CancelAll => false,
            Self::CancelPending => member.attempts_made > 0,
            Self::LetActiveFinish => matches!(member.attempt, AttemptSlot::Open(_)),
            Self::FlowOnly => true,
        }
    }
}

impl Flow {
    pub fn state(&self) -> FlowState {
        if self.staging.is_some() {
            FlowState::Staging
        } else if self.cancel.is_some() {
            FlowState::Cancelled
        } else if self.ended_at.is_some() {
            if self.failed_leaves == 0 { FlowState::Completed } else { FlowState::Failed }
        } else if self.started_at.is_some() {
            FlowState::Running
        } else {
            FlowState::Open
        }
    }

    /// Returns whether a member may continue. A claim does not start a member that a cancelled flow does not spare.
    pub fn spares(&self, member: &Execution) -> bool {
        self.cancel.as_ref().is_none_or(|cancel| cancel.policy.spares(member))
    }

    /// Returns whether the flow is over. A flow that was cancelled with `flow_only` is over at once. Any other flow is
    /// over when no member is live, unless it is held open and not cancelled. A staged flow is never over.
    pub(crate) fn is_over(&self) -> bool {
        let left_alone = self.cancel.as_ref().is_some_and(|cancel| cancel.policy == CancelPolicy::FlowOnly);
        let empty = self.counts.live() == 0 && (self.cancel.is_some() || !self.held_open);
        self.staging.is_none() && (left_alone || empty)
    }

    /// Returns whether the flow is visible: neither staged nor being forgotten.
    pub fn is_visible(&self) -> bool {
        self.staging.is_none() && !self.is_being_forgotten()
    }

    /// Returns whether a sweep is forgetting the flow and its members.
    pub fn is_being_forgotten(&self) -> bool {
        self.member_sweep
            .is_some_and(|member_sweep| matches!(member_sweep.action, SweepAction::Discard | SweepAction::Forget))
    }

    /// Returns the time at which the flow and its members are forgotten, or nothing while the flow has not ended, a
    /// member is live or a sweep is running.
    pub fn forget_at(&self) -> Option<TimestampMs> {
        let ended_at = self.ended_at.filter(|_| self.counts.live() == 0 && self.member_sweep.is_none())?;
        Some(ended_at + self.retention_ms.unwrap_or(limits::RETENTION_MS))
    }

    /// Returns when the flow itself is due: its member sweep continues, its staged submission is abandoned, or its
    /// retention ends.
    pub fn next_due(&self) -> Option<TimestampMs> {
        let member_sweep = self.member_sweep.map(|member_sweep| member_sweep.since);
        member_sweep.or(self.staging.map(|staging| staging.until)).or(self.forget_at())
    }
}
