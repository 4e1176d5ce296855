//! Progress: the holder says how far it is.

use crate::change::Change;
use crate::engine_error::Refusal;
use crate::execution::contracts::ProgressArgs;
use crate::execution::{Execution, Progress};
use crate::types::TimestampMs;

/// Notes how far the holder is. What is not said stays as it was.
pub fn progress(execution: &Execution, args: &ProgressArgs, now: TimestampMs) -> Result<Change, Refusal> {
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
    use crate::samples::{at, held, running};

    #[test]
    fn what_is_not_said_stays() {
        let execution = running();
        let say = |percent, message: Option<&str>| ProgressArgs {
            execution_id: execution.id,
            fence: held(&execution),
            percent,
            message: message.map(str::to_owned),
        };
        let first = progress(&execution, &say(Some(10), Some("reading")), at(1)).unwrap();
        let second = progress(&first.after, &say(Some(20), None), at(2)).unwrap();
        let noted = second.after.progress.unwrap();
        assert_eq!((noted.percent, noted.message.as_deref(), noted.at), (Some(20), Some("reading"), at(2)));
    }
}
