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
use crate::state::words;
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
    /// Where it and everything of it lives.
    pub partition: u16,
    pub created_at: TimestampMs,
    /// Rises with every change of the graph.
    pub graph_revision: u64,
    pub nodes: u32,
    pub edges: u32,
    /// The payloads of its members together.
    pub payload_bytes: u64,
    /// How many members are in which state.
    pub counts: Counts,
    /// Members without dependents that ended without success: with one of them the flow has failed.
    #[serde(default)]
    pub lost: u32,
    /// Stands for the graph it was submitted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// While it is submitted part by part, and invisible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// It does not end with its last member, because more are to come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_open: bool,
    /// When the first of its members was claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<FlowCancel>,
    /// The sweep over its members that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member_sweep: Option<MemberSweep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<TimestampMs>,
    /// Events recorded so far; the number of the next.
    #[serde(default)]
    pub events: u64,
    /// How long it is kept after its end: as long as the member that asks for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_ms: Option<u64>,
    /// The trace it was submitted in, and so every member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

/// A submission whose last part has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    /// Parts that came; the number of the next.
    pub parts: u32,
    /// Quorums that have fewer upstreams than they need, so far.
    #[serde(default)]
    pub short: u32,
    /// When it is given up.
    pub until: TimestampMs,
}

/// The cancellation of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCancel {
    pub policy: CancelPolicy,
    pub at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
}

/// Something that is done to every member, in the order of their ids, in bounded steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSweep {
    pub action: SweepAction,
    pub since: TimestampMs,
    /// The last member it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ExecutionId>,
    /// How many it was done to.
    #[serde(default)]
    pub seen: u32,
}

words! {
    /// What a sweep does to every member.
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
    /// Whether this is an end.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl CancelPolicy {
    /// Whether a member may go on.
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
            if self.lost == 0 { FlowState::Completed } else { FlowState::Failed }
        } else if self.started_at.is_some() {
            FlowState::Running
        } else {
            FlowState::Open
        }
    }

    /// Whether a member may go on: a claim starts nothing that a cancelled flow does not spare.
    pub fn spares(&self, member: &Execution) -> bool {
        self.cancel.as_ref().is_none_or(|cancel| cancel.policy.spares(member))
    }

    /// Whether nothing is left to happen in it.
    pub(crate) fn is_over(&self) -> bool {
        let left_alone = self.cancel.as_ref().is_some_and(|cancel| cancel.policy == CancelPolicy::FlowOnly);
        let empty = self.counts.live() == 0 && (self.cancel.is_some() || !self.held_open);
        self.staging.is_none() && (left_alone || empty)
    }

    /// Whether it is visible: neither staged nor being forgotten.
    pub fn is_visible(&self) -> bool {
        self.staging.is_none() && !self.is_going()
    }

    /// Whether it and its members are being forgotten, one after the other.
    pub fn is_going(&self) -> bool {
        self.member_sweep
            .is_some_and(|member_sweep| matches!(member_sweep.action, SweepAction::Discard | SweepAction::Forget))
    }

    /// When it is forgotten, with all its members, once nothing is left to happen in it.
    pub fn forget_at(&self) -> Option<TimestampMs> {
        let ended_at = self.ended_at.filter(|_| self.counts.live() == 0 && self.member_sweep.is_none())?;
        Some(ended_at + self.kept_ms.unwrap_or(limits::RETENTION_MS))
    }

    /// When something of the flow itself is due: its member sweep goes on, a staged submission is given up, or its
    /// retention is over.
    pub fn next_due(&self) -> Option<TimestampMs> {
        let member_sweep = self.member_sweep.map(|member_sweep| member_sweep.since);
        member_sweep.or(self.staging.map(|staging| staging.until)).or(self.forget_at())
    }
}
