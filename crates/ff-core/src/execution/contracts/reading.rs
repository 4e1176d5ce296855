//! Executions, their ends and their attempts, as callers see them.

use serde::{Deserialize, Serialize};

use crate::execution::{Attempt, BlockDetail, Failure, FinishedBy, Hold, Outcome, Progress, Tags};
use crate::json::is_default;
use crate::lease::LeaseEvent;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::state::{PublicState, StateVector};
use crate::suspension::contracts::SuspensionInfo;
use crate::trace::TraceContext;
use crate::types::{
    AttemptIndex, ExecutionId, FairKey, FlowId, IdempotencyKey, Kind, LaneId, LeaseEpoch, Namespace, NodeName,
    Priority, QueueName, TimestampMs, WorkerId, WorkerInstanceId,
};

/// An execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExecutionInfo {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub priority: Priority,
    pub public_state: PublicState,
    pub state: StateVector,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub policy: Policy,
    /// Its key for fair queueing, if its lane was fair at submission.
    #[serde(default, skip_serializing_if = "FairKey::is_empty")]
    pub fair_key: FairKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Its singleton or debounce key, for example `singleton:report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission_key: Option<QueueName>,
    pub payload_bytes: u64,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    pub changed_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_until: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_by: Option<FinishedBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseInfo>,
    pub attempts_made: u32,
    pub retries: u32,
    pub reclaims: u32,
    pub replays: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspensionInfo>,
    /// Its flow; `node` is its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// The trace it was submitted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
    /// Number of recorded steps and waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: u32,
    /// The execution it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ExecutionId>,
    /// The operator's hold; absent once the execution has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Box<Hold>>,
    /// Why it is blocked: by its requirements, a quota, its singleton key, a budget or an assignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking_detail: Option<Box<BlockDetail>>,
}

/// A lease, without the ids that prove who holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeaseInfo {
    pub worker_id: WorkerId,
    pub worker_instance_id: WorkerInstanceId,
    pub lease_epoch: LeaseEpoch,
    pub attempt_index: AttemptIndex,
    pub acquired_at: TimestampMs,
    pub expires_at: TimestampMs,
}

/// How an execution ended, with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionEnd {
    pub execution_id: ExecutionId,
    pub outcome: Outcome,
    pub at: TimestampMs,
    pub by: FinishedBy,
    pub result: Option<Payload>,
    pub failure: Option<Failure>,
}

/// All attempts of an execution, oldest first, and its expired, revoked and released leases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attempts {
    pub attempts: Vec<Attempt>,
    pub leases: Vec<LeaseEvent>,
}
