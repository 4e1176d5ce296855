//! The functions of executions.

mod cancel;
mod complete;
mod create;
mod create_plain;
mod delay;
mod due;
mod fail;
mod list;
mod priority;
mod progress;
mod read;
mod replay;
mod tags;

use ff_core::contracts::Start;
use ff_core::keys::ExecKeyContext;
use ff_core::partition::Partition;
use ff_core::types::{ExecutionId, TimestampMs};

pub use cancel::ff_cancel_execution;
pub use complete::{ff_complete_execution, ff_complete_executions};
pub use create::ff_create_execution;
pub(crate) use create::{digest, unless_default, unless_json};
pub use create_plain::{PlainWork, ff_create_executions};
pub use delay::ff_delay_execution;
pub use due::{DueOutcome, ff_expire_execution, ff_promote_delayed};
pub use fail::ff_fail_execution;
pub use list::{Before, Listed, Wanted, ff_list_executions};
pub use priority::ff_change_priority;
pub use progress::ff_update_progress;
pub use read::{Beside, ff_read_execution};
pub use replay::ff_replay_execution;
pub use tags::ff_set_execution_tags;

/// The key of an execution's record.
pub fn core_key(id: &ExecutionId) -> String {
    ExecKeyContext::new(&Partition::of(id), id).core()
}

/// The last moment a score holds exactly, some hundred thousand years from now. What is to start later starts then.
const LATEST_MS: i64 = 1 << 53;

/// A moment as the functions take it: none is before the first, and none after the last.
pub fn moment(at: TimestampMs) -> u64 {
    at.0.clamp(0, LATEST_MS).unsigned_abs()
}

/// A number to count from, as the functions take it: beyond what they hold exactly there is nothing.
pub(crate) fn counted_from(number: u64) -> u64 {
    number.min(LATEST_MS.unsigned_abs())
}

/// When something may start, as the functions take it: after a while, or at a moment.
pub(crate) fn start(start: Start) -> (Option<u64>, Option<u64>) {
    match start {
        Start::Now => (None, None),
        Start::After(ms) => (Some(ms), None),
        Start::At(at) => (None, Some(moment(at))),
    }
}
