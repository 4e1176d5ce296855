//! Explanations as callers see them.

use serde::{Deserialize, Serialize};

use crate::lane::LaneSettings;
use crate::state::{BlockingReason, PublicState, text_enum};
use crate::types::{ExecutionId, Kind, LaneId, Namespace, TimestampMs, WorkerInstanceId};

/// Whether an execution runs, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Explanation {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub public_state: PublicState,
    pub blocking_reason: BlockingReason,
    /// When it entered this state.
    pub since: TimestampMs,
    /// The explanation in one or two sentences.
    pub summary: String,
    /// The event that changes its state next; absent when it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEvent>,
    /// All conditions for running, each with its verdict.
    pub terms: Vec<Term>,
    /// At most ten executions that hold the slots it waits for, or its own lease.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<SlotHolder>,
    /// Actions an operator can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<SuggestedAction>,
}

/// An event that changes the state of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NextEvent {
    pub event: String,
    /// When it happens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimestampMs>,
}

/// A condition for running an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Term {
    pub term: TermKind,
    pub verdict: Verdict,
    pub detail: String,
    /// When its verdict changes by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TimestampMs>,
}

text_enum! {
    /// Kind of a condition for running an execution.
    TermKind {
        Dependencies "dependencies",
        Suspension "suspension",
        Delay "delay",
        Hold "hold",
        Assignment "assignment",
        Requirements "requirements",
        Quota "quota",
        Singleton "singleton",
        Budget "budget",
        Lane "lane",
        LaneLimit "lane_limit",
        Workers "workers",
        Turn "turn",
        Position "position",
        Deadline "deadline",
    }

    /// Whether a term lets an execution run.
    Verdict {
        /// It does not prevent the execution from running.
        Passes "passes",
        /// It prevents running for now, and changes without an operator.
        Waits "waits",
        /// It prevents running until an operator acts.
        Blocks "blocks",
    }
}

/// An execution that holds a slot, or a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SlotHolder {
    pub execution_id: ExecutionId,
    pub worker_instance_id: WorkerInstanceId,
    /// When it got the slot or lease.
    pub since: TimestampMs,
    /// When the lease expires, unless it is renewed.
    pub until: TimestampMs,
}

/// An action an operator can take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SuggestedAction {
    pub what: String,
    /// A command that can be pasted into a shell.
    pub command: String,
}

/// Why executions of a lane do not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaneExplanation {
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub settings: LaneSettings,
    /// Number of running executions.
    pub active: u64,
    /// The explanation in one or two sentences.
    pub summary: String,
    /// Reasons, the one with most executions first.
    pub causes: Vec<LaneCause>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<SuggestedAction>,
}

/// A reason why executions of a lane do not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaneCause {
    pub term: TermKind,
    /// Number of affected executions, at most 2 500.
    pub count: u64,
    /// True when more executions are affected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    pub detail: String,
}
