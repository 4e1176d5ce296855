//! The facts that explain an execution.

use crate::execution::contracts::ExecutionInfo;
use crate::explain::SlotHolder;
use crate::fairness::{TurnName, TurnQueue};
use crate::lane::LaneSettings;
use crate::state::PublicState;
use crate::types::{ExecutionId, FairKey, Kind, LaneId, Namespace, NodeName, Priority, RequirementClass, TimestampMs};
use crate::worker::Worker;

/// Maximum number of executions ahead of one that are counted. A larger number is reported as "over" this one.
pub const AHEAD_MAX: u64 = 1_000;
/// Maximum number of executions of a lane that are counted for one cause. A larger number is reported as "over" this one.
pub const LANE_COUNT_MAX: u64 = 2_500;
/// Maximum number of slot holders that are named.
pub const HOLDERS_MAX: usize = 10;

/// The queue of an execution and its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueArgs {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane: LaneId,
    pub kind: Kind,
    pub class: RequirementClass,
    /// Its key for fair queueing.
    pub key: FairKey,
    pub priority: Priority,
    pub created_at: TimestampMs,
}

impl QueueArgs {
    pub fn of(info: &ExecutionInfo) -> Self {
        Self {
            execution_id: info.execution_id,
            namespace: info.namespace.clone(),
            lane: info.lane_id.clone(),
            kind: info.kind.clone(),
            class: RequirementClass::of(&info.policy.routing_requirements.required_capabilities),
            key: info.fair_key.clone(),
            priority: info.priority,
            created_at: info.created_at,
        }
    }

    /// Returns the name of the turn of its key.
    pub fn turn(&self) -> TurnName {
        let lane = self.lane.within(&self.namespace);
        TurnName { partition: self.execution_id.partition(), lane, key: self.key.clone() }
    }

    /// Returns the list that contains its key while executions of the same kind and class wait.
    pub fn turn_queue(&self) -> TurnQueue {
        TurnQueue::Of(Some(self.kind.clone()), self.class.clone())
    }
}

/// The configuration of an execution's lane, and the work ahead of the execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFacts {
    /// The settings recorded at the lane's home; the defaults when the lane was never configured.
    pub settings: LaneSettings,
    /// Number of executions of its lane, kind and key that are claimed before it, at most [`AHEAD_MAX`] + 1: those of
    /// higher priority, older ones of the same priority, and in its own partition also those of the same age with a
    /// smaller id.
    pub ahead: u64,
    /// Number of keys of its partition whose turn comes before that of its own key, at most [`AHEAD_MAX`] + 1; only for
    /// a waiting execution with a key.
    pub keys_ahead: Option<u64>,
    /// Running executions of the lane, longest-running first, at most [`HOLDERS_MAX`]; only for a lane with a limit.
    pub running: Vec<ExecutionId>,
    /// Number of running executions of the lane; only for a lane with a limit.
    pub active: u64,
}

/// The facts that explain an execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub info: ExecutionInfo,
    pub queue: QueueFacts,
    /// The registered workers of its namespace that are alive.
    pub workers: Vec<Worker>,
    /// Whether there are more workers than were read.
    pub more_workers: bool,
    /// The upstreams it waits for, those that have not ended first; at most ten.
    pub upstreams: Vec<Upstream>,
    /// The holders of the slots it waits for, or of its own lease.
    pub holders: Vec<SlotHolder>,
}

/// An upstream of a member of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    pub node: Option<NodeName>,
    pub execution_id: ExecutionId,
    pub public_state: PublicState,
}
