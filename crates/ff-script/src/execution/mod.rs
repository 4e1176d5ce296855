//! The functions of executions.

mod admission;
mod change;
mod create;
mod end;
mod list;
mod read;

use bytes::Bytes;
use ff_core::contracts::Start;
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, TimestampMs};

pub use admission::{ff_block_executions, ff_hold_execution, ff_release_hold, ff_unblock_executions};
pub(crate) use admission::{word, written};
pub use change::{
    ff_change_priority, ff_delay_execution, ff_replay_execution, ff_set_execution_tags, ff_update_progress,
};
pub(crate) use create::{digest, unless_default, unless_json};
pub use create::{ff_create_execution, ff_create_executions, ff_create_keyed_execution};
pub use end::{ff_cancel_execution, ff_complete_execution, ff_complete_executions, ff_fail_execution};
pub use list::{ListPage, ListStart, ff_list_executions};
pub use read::{ExtraReads, ff_read_execution};

/// Returns the key of an execution's record.
pub fn core_key(id: &ExecutionId) -> String {
    ExecKeyContext::new(&Partition::of(id), id).core()
}

/// Returns the keys that the executions of a partition share.
pub fn index_keys(partition: u16) -> IndexKeys {
    IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))
}

/// Encodes labels as keys and values.
pub(crate) fn tag_items<'t, K, V>(tags: impl IntoIterator<Item = (&'t K, &'t V)>) -> Vec<Bytes>
where
    K: ToString + 't,
    V: ToString + 't,
{
    tags.into_iter().flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect()
}

/// The last time that a score holds exactly, some hundred thousand years from now. A later start becomes this time.
const LATEST_MS: i64 = 1 << 53;

/// Returns a time as the functions take it, limited to the range that they hold exactly.
pub fn moment(at: TimestampMs) -> u64 {
    at.0.clamp(0, LATEST_MS).unsigned_abs()
}

/// Returns a start number as the functions take it. Larger numbers than they hold exactly do not occur.
pub(crate) fn counted_from(number: u64) -> u64 {
    number.min(LATEST_MS.unsigned_abs())
}

/// Returns the delay and the time of a start, as the functions take them.
pub(crate) fn start(start: Start) -> (Option<u64>, Option<u64>) {
    match start {
        Start::Now => (None, None),
        Start::After(ms) => (Some(ms), None),
        Start::At(at) => (None, Some(moment(at))),
    }
}
