//! Progress: the holder reports the progress of its work.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::Execution;
use crate::lease::Fence;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TimestampMs};

/// Reports the progress of the running attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub percent: Option<u8>,
    pub message: Option<String>,
}

/// The progress is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecordedProgress {
    pub at: TimestampMs,
}

/// Progress reported by the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Progress {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub at: TimestampMs,
}

impl ExecutionCommand for ProgressArgs {
    type Reply = RecordedProgress;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "percent", 100, self.percent.unwrap_or_default())?;
        check_message("message", self.message.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RecordedProgress>, Stop> {
        let change = progress(found(view, &self.execution_id)?, self, at.now)?;
        Ok(Decision::of(RecordedProgress { at: at.now }, [change]))
    }
}

/// Records the holder's progress. Absent fields keep their previous values.
fn progress(execution: &Execution, args: &ProgressArgs, now: TimestampMs) -> Result<Change, Refusal> {
    execution.held_by(&args.fence, now)?;
    let before = execution.progress.as_ref();
    let mut change = execution.unchanged();
    change.after.progress = Some(Progress {
        percent: args.percent.or_else(|| before.and_then(|progress| progress.percent)),
        message: args.message.clone().or_else(|| before.and_then(|progress| progress.message.clone())),
        at: now,
    });
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::{at, held, running};

    #[test]
    fn omitted_progress_fields_keep_their_value() {
        let execution = running();
        let say = |percent, message: Option<&str>| ProgressArgs {
            execution_id: execution.id,
            fence: held(&execution),
            percent,
            message: message.map(str::to_owned),
        };
        let first = progress(&execution, &say(Some(10), Some("reading")), at(1)).unwrap();
        let second = progress(&first.after, &say(Some(20), None), at(2)).unwrap();
        let latest = second.after.progress.unwrap();
        assert_eq!((latest.percent, latest.message.as_deref(), latest.at), (Some(20), Some("reading"), at(2)));
    }
}
