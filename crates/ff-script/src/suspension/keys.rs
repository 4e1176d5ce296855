//! The keys of calls about suspensions. What a caller does not know stands as the placeholder: the functions go by the
//! record.

use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::execution_partition;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId, WaitpointId, WorkerInstanceId};

/// What the keys of a suspension are made from.
#[derive(Clone, Debug)]
pub struct SuspendOpKeys {
    pub exec: ExecKeyContext,
    pub index: IndexKeys,
    pub lane_id: Option<LaneId>,
    pub worker_instance_id: Option<WorkerInstanceId>,
    pub attempt_index: Option<AttemptIndex>,
}

/// What the keys of an operator's decision are made from.
#[derive(Clone, Debug)]
pub struct ResumeOpKeys {
    pub exec: ExecKeyContext,
    pub index: IndexKeys,
    pub lane_id: Option<LaneId>,
    /// The current one, as the execution's record has it.
    pub waitpoint_id: Option<WaitpointId>,
}

/// What the keys of one waitpoint are made from.
#[derive(Clone, Debug)]
pub struct WaitpointOpKeys {
    pub exec: ExecKeyContext,
    pub index: IndexKeys,
}

/// What the keys of a suspension that times out are made from.
#[derive(Clone, Debug)]
pub struct ExpireSuspensionOpKeys {
    pub exec: ExecKeyContext,
    pub index: IndexKeys,
    pub lane_id: Option<LaneId>,
    /// The current one, as the execution's record has it.
    pub waitpoint_id: Option<WaitpointId>,
    /// The current one, likewise.
    pub attempt_index: Option<AttemptIndex>,
}

impl SuspendOpKeys {
    /// The keys of an execution of which no more is known than its id.
    pub fn of(id: &ExecutionId) -> Self {
        let (exec, index) = contexts(id);
        Self { exec, index, lane_id: None, worker_instance_id: None, attempt_index: None }
    }
}

impl ResumeOpKeys {
    /// The keys of an execution of which no more is known than its id.
    pub fn of(id: &ExecutionId) -> Self {
        let (exec, index) = contexts(id);
        Self { exec, index, lane_id: None, waitpoint_id: None }
    }
}

impl WaitpointOpKeys {
    pub fn of(id: &ExecutionId) -> Self {
        let (exec, index) = contexts(id);
        Self { exec, index }
    }
}

impl ExpireSuspensionOpKeys {
    /// The keys of an execution of which no more is known than its id.
    pub fn of(id: &ExecutionId) -> Self {
        let (exec, index) = contexts(id);
        Self { exec, index, lane_id: None, waitpoint_id: None, attempt_index: None }
    }
}

fn contexts(id: &ExecutionId) -> (ExecKeyContext, IndexKeys) {
    let partition = execution_partition(id);
    (ExecKeyContext::new(&partition, id), IndexKeys::new(&partition))
}

/// The key of what is known, or the placeholder.
pub(super) fn or_noop<T>(exec: &ExecKeyContext, known: Option<&T>, key: impl FnOnce(&T) -> String) -> String {
    known.map_or_else(|| exec.noop(), key)
}
