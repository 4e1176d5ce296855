//! The facts that explain an execution.

use crate::execution::contracts::ExecutionInfo;
use crate::explain::SlotHolder;
use crate::fairness::{TurnName, TurnQueue};
use crate::lane::LaneSettings;
use crate::state::PublicState;
use crate::types::{ExecutionId, FairKey, Kind, LaneId, Namespace, NodeName, Priority, RequirementClass, TimestampMs};
use crate::worker::Worker;

/// How many executions ahead of one are counted. More are said to be more than so many.
pub const AHEAD_MAX: u64 = 1_000;
/// How many executions of a lane are counted for one cause. More are said to be more than so many.
pub const LANE_COUNT_MAX: u64 = 2_500;
/// How many holders of slots are named.
pub const HOLDERS_MAX: usize = 10;

/// Which queue, and the place of an execution in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueArgs {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane: LaneId,
    pub kind: Kind,
    pub class: RequirementClass,
    /// The key its lane queues it by.
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

    /// The turn of its key.
    pub fn turn(&self) -> TurnName {
        let lane = self.lane.within(&self.namespace);
        TurnName { partition: self.execution_id.partition(), lane, key: self.key.clone() }
    }

    /// The list its key is in while something of the same kind and class waits.
    pub fn turn_queue(&self) -> TurnQueue {
        TurnQueue::Of(Some(self.kind.clone()), self.class.clone())
    }
}

/// The configuration of an execution's lane, and the work ahead of the execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFacts {
    /// As the lane's home says; the defaults when it was never configured.
    pub settings: LaneSettings,
    /// How many executions of its lane, kind and key are to be claimed before it, at most one more than [`AHEAD_MAX`]: those of
    /// a higher priority, and of the same one those that are older; in its own partition also those of the same age with a
    /// smaller id.
    pub ahead: u64,
    /// How many keys of its partition have their turn before its own, at most one more than [`AHEAD_MAX`]; only of work with a
    /// key that waits.
    pub keys_ahead: Option<u64>,
    /// Executions of the lane that run, those longest under way first, at most [`HOLDERS_MAX`]; only of a lane with a limit.
    pub running: Vec<ExecutionId>,
    /// How many executions of the lane run; only of a lane with a limit.
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
