//! Queues of work by lane, kind and requirement class, as an engine reads them.

use crate::execution::Execution;
use crate::rule::index::Index;
use crate::types::{ExecutionId, Kind, LaneId, LeaseEpoch, RequirementClass};
use crate::worker::Worker;

/// A queue: the work of one lane, kind and requirement class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkQueue {
    /// The lane's name in indexes, which includes its namespace.
    pub lane: LaneId,
    pub kind: Kind,
    pub class: RequirementClass,
}

impl WorkQueue {
    /// Returns whether a worker can take work of this queue.
    pub fn is_served_by(&self, worker: &Worker) -> bool {
        worker.lanes.iter().any(|lane| lane.within(&worker.namespace) == self.lane)
            && (worker.kinds.is_empty() || worker.kinds.contains(&self.kind))
            && self.class.is_met_by(&worker.capabilities)
    }
}

/// The state of the executions of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueState {
    /// The executions wait for a worker.
    Ready,
    /// The executions are blocked because no live worker meets their requirements.
    Unroutable,
}

/// A request for the first executions of a queue on a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQueueArgs {
    pub partition: u16,
    pub queue: WorkQueue,
    pub state: QueueState,
    pub limit: usize,
}

impl ListQueueArgs {
    /// Returns the index of these executions. Ready executions with a fairness key are in other indexes.
    pub fn index(&self) -> Index {
        let WorkQueue { lane, kind, class } = self.queue.clone();
        match self.state {
            QueueState::Ready => Index::LaneEligibleKind(lane, kind, class),
            QueueState::Unroutable => Index::LaneUnroutable(lane, kind, class),
        }
    }
}

/// An execution of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedExecution {
    pub execution_id: ExecutionId,
    /// Epoch of its last lease; zero before the first.
    pub lease_epoch: LeaseEpoch,
}

impl QueuedExecution {
    pub fn of(execution: &Execution) -> Self {
        Self { execution_id: execution.id, lease_epoch: execution.epoch() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Capability, Namespace};
    use crate::worker::fixture::known_worker;

    #[test]
    fn a_queue_is_served_by_a_worker_of_its_lane_and_kind_with_its_capabilities() {
        let worker = known_worker();
        let (lane, kind) = (LaneId::default_name(), Kind::parse("k").unwrap());
        let queue = |class: &str| WorkQueue {
            lane: lane.clone(),
            kind: kind.clone(),
            class: RequirementClass::parse(class).unwrap(),
        };
        assert!(queue("gpu=a100").is_served_by(&worker) && queue("").is_served_by(&worker));
        assert!(!queue("gpu=a100,ssd").is_served_by(&worker));
        let more = [Capability::parse("ssd").unwrap()];
        let able = Worker { capabilities: worker.capabilities.iter().cloned().chain(more).collect(), ..worker.clone() };
        assert!(queue("gpu=a100,ssd").is_served_by(&able));
        let other_kind = Worker { kinds: [Kind::parse("other").unwrap()].into(), ..worker.clone() };
        assert!(!queue("gpu=a100").is_served_by(&other_kind));
        let theirs = Worker { namespace: Namespace::parse("acme").unwrap(), ..worker };
        assert!(!queue("gpu=a100").is_served_by(&theirs));
    }
}
