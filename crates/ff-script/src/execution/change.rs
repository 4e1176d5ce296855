//! Functions that change an execution without ending it: delay, progress, priority, labels, replay.

use ff_core::contracts::{
    ChangePriorityArgs, DelayArgs, DelayedExecution, PriorityChanged, ProgressArgs, RecordedProgress, ReplayArgs,
    ReplayedExecution, SetTagsArgs, TaggedExecution,
};
use ff_core::types::TimestampMs;

use super::{core_key, start, tag_items};
use crate::record::{Hash, priority};
use crate::server::{ask, ask_word};
use crate::signature::{ChangePriority, DelayExecution, ReplayExecution, SetExecutionTags, UpdateProgress};
use crate::{ScriptError, Server};

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
    let mut fields = ask(server, delay.call()).await?;
    Ok(DelayedExecution { until: TimestampMs(fields.read()?) })
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
    let mut fields = ask(server, progress.call()).await?;
    Ok(RecordedProgress { at: TimestampMs(fields.read()?) })
}

/// Changes the priority of a live execution.
pub async fn ff_change_priority(server: &dyn Server, args: ChangePriorityArgs) -> Result<PriorityChanged, ScriptError> {
    let change = ChangePriority { core: core_key(&args.execution_id), priority: args.priority.get().into() };
    let from = priority(ask_word(server, change.call()).await?)?;
    Ok(PriorityChanged { from, priority: args.priority })
}

/// Adds and removes labels of an execution.
pub async fn ff_set_execution_tags(server: &dyn Server, args: SetTagsArgs) -> Result<TaggedExecution, ScriptError> {
    let set = SetExecutionTags {
        core: core_key(&args.execution_id),
        tags: tag_items(&args.set),
        removed: args.remove.iter().map(|key| key.to_string().into()).collect(),
    };
    let mut fields = ask(server, set.call()).await?;
    Ok(TaggedExecution { tags: Hash::parse(fields.list()?)?.all()?.into_iter().collect() })
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
    let mut fields = ask(server, replay.call()).await?;
    Ok(ReplayedExecution { public_state: fields.read()?, replays: fields.read()? })
}
