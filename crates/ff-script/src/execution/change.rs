//! Functions that change an execution without ending it: delay, progress, priority, labels, replay.

use ff_core::contracts::{
    ChangePriorityArgs, DelayArgs, DelayedExecution, PriorityChanged, ProgressArgs, RecordedProgress, ReplayArgs,
    ReplayedExecution, SetTagsArgs, TaggedExecution,
};
use ff_core::types::{Priority, TimestampMs};

use super::{core_key, start};
use crate::record::Hash;
use crate::server::ask;
use crate::signature::{ChangePriority, DelayExecution, ReplayExecution, SetExecutionTags, UpdateProgress};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Releases the lease and delays the execution; the same attempt resumes afterwards.
pub async fn ff_delay_execution(server: &dyn Server, args: DelayArgs) -> Result<DelayedExecution, ScriptError> {
    let (start_in_ms, start_at) = start(args.start);
    let delay = DelayExecution {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        start_in_ms,
        start_at,
    };
    ask(server, delay.call()).await
}

impl FromFcallResult for DelayedExecution {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { until: TimestampMs(fields.read()?) })
    }
}

/// Records the holder's progress.
pub async fn ff_update_progress(server: &dyn Server, args: ProgressArgs) -> Result<RecordedProgress, ScriptError> {
    let progress = UpdateProgress {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        percent: args.percent.map(u64::from),
        message: args.message,
    };
    ask(server, progress.call()).await
}

impl FromFcallResult for RecordedProgress {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { at: TimestampMs(fields.read()?) })
    }
}

/// Changes the priority of a live execution.
pub async fn ff_change_priority(server: &dyn Server, args: ChangePriorityArgs) -> Result<PriorityChanged, ScriptError> {
    let change = ChangePriority { core: core_key(&args.execution_id), priority: args.priority.get().into() };
    let From(from) = ask(server, change.call()).await?;
    Ok(PriorityChanged { from, priority: args.priority })
}

struct From(Priority);

impl FromFcallResult for From {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let from = Priority::new(fields.read()?);
        from.map(Self).map_err(|error| ScriptError::parse(format!("the priority {error}")))
    }
}

/// Adds and removes labels of an execution.
pub async fn ff_set_execution_tags(server: &dyn Server, args: SetTagsArgs) -> Result<TaggedExecution, ScriptError> {
    let set = SetExecutionTags {
        core: core_key(&args.execution_id),
        tags: args.set.iter().flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect(),
        removed: args.remove.iter().map(|key| key.to_string().into()).collect(),
    };
    ask(server, set.call()).await
}

impl FromFcallResult for TaggedExecution {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { tags: Hash::parse(fields.list()?)?.all()?.into_iter().collect() })
    }
}

/// Restarts a finished execution.
pub async fn ff_replay_execution(server: &dyn Server, args: ReplayArgs) -> Result<ReplayedExecution, ScriptError> {
    let replay = ReplayExecution {
        core: core_key(&args.execution_id),
        reason: args.reason,
        requested_by: args.requested_by,
        reopen_downstream: args.reopen_downstream,
        from_name: args.from_step.as_ref().map(|point| point.name.to_string()),
        from_key: args.from_step.map(|point| point.key.to_string().into()).unwrap_or_default(),
    };
    ask(server, replay.call()).await
}

impl FromFcallResult for ReplayedExecution {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { public_state: fields.read()?, replays: fields.read()? })
    }
}
