//! The keys of calls about suspensions.

use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::Partition;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId, WaitpointId, WorkerInstanceId};

/// The parts from which the keys of `ff_suspend_execution` are built.
#[derive(Clone, Copy, Debug)]
pub struct SuspendOpKeys<'a> {
    pub ctx: &'a ExecKeyContext,
    pub idx: &'a IndexKeys,
    pub lane_id: &'a LaneId,
    pub worker_instance_id: &'a WorkerInstanceId,
}

/// The parts from which the keys of `ff_resume_execution` are built.
#[derive(Clone, Copy, Debug)]
pub struct ResumeOpKeys<'a> {
    pub ctx: &'a ExecKeyContext,
    pub idx: &'a IndexKeys,
    pub lane_id: &'a LaneId,
    /// `current_waitpoint_id` of the execution.
    pub waitpoint_id: &'a WaitpointId,
}

/// The parts from which the keys of `ff_create_pending_waitpoint` and `ff_close_waitpoint` are built.
#[derive(Clone, Copy, Debug)]
pub struct WaitpointOpKeys<'a> {
    pub ctx: &'a ExecKeyContext,
    pub idx: &'a IndexKeys,
}

/// The parts from which the keys of `ff_expire_suspension` are built.
#[derive(Clone, Copy, Debug)]
pub struct ExpireSuspensionOpKeys<'a> {
    pub ctx: &'a ExecKeyContext,
    pub idx: &'a IndexKeys,
    pub lane_id: &'a LaneId,
    /// `current_waitpoint_id` of the execution.
    pub waitpoint_id: &'a WaitpointId,
    /// `current_attempt_index` of the execution.
    pub attempt_index: AttemptIndex,
}

/// Returns the key contexts of an execution.
pub(super) fn contexts(id: &ExecutionId) -> (ExecKeyContext, IndexKeys) {
    let partition = Partition::of(id);
    (ExecKeyContext::new(&partition, id), IndexKeys::new(&partition))
}
