//! Explanations as callers see them.

use serde::{Deserialize, Serialize};

use crate::lane::LaneSettings;
use crate::state::{BlockingReason, PublicState, words};
use crate::types::{ExecutionId, Kind, LaneId, Namespace, TimestampMs, WorkerInstanceId};

/// Why an execution does not run, or that it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub public_state: PublicState,
    pub blocking_reason: BlockingReason,
    /// Since when it is in this state.
    pub since: TimestampMs,
    /// The answer in a sentence or two.
    pub summary: String,
    /// The event that changes it next; absent when it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEvent>,
    /// Everything that decides whether it runs, each with its verdict.
    pub terms: Vec<Term>,
    /// The executions that hold the slots it waits for, or its own lease; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<SlotHolder>,
    /// What an operator can do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<SuggestedAction>,
}

/// An event that changes how an execution stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextEvent {
    pub event: String,
    /// When, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimestampMs>,
}

/// One thing that decides whether an execution runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Term {
    pub term: TermKind,
    pub verdict: Verdict,
    pub detail: String,
    /// When its verdict changes by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TimestampMs>,
}

words! {
    /// What decides whether an execution runs.
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
        /// It does not keep the execution from running.
        Passes "passes",
        /// It keeps the execution from running now, and changes without an operator.
        Waits "waits",
        /// It keeps the execution from running until something is done about it.
        Blocks "blocks",
    }
}

/// An execution that holds a slot, or a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotHolder {
    pub execution_id: ExecutionId,
    pub worker_instance_id: WorkerInstanceId,
    /// Since when.
    pub since: TimestampMs,
    /// Until when it does, unless its worker renews the lease.
    pub until: TimestampMs,
}

/// What an operator can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuggestedAction {
    pub what: String,
    /// A command that can be pasted into a shell.
    pub command: String,
}

/// Why the work of a lane does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneExplanation {
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub settings: LaneSettings,
    /// How many executions of it run.
    pub active: u64,
    /// The answer in a sentence or two.
    pub summary: String,
    /// Why its work does not run, the cause of most of it first.
    pub causes: Vec<LaneCause>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<SuggestedAction>,
}

/// Why some of the work of a lane does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneCause {
    pub term: TermKind,
    /// How many executions it is the cause for, at most 10 000.
    pub count: u64,
    /// Whether there are more than are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    pub detail: String,
}
