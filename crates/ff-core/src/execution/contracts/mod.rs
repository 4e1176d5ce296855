//! Arguments and replies about executions.

mod bulk;
mod filter;
mod listing;
mod reading;

pub use super::block::{BlockArgs, BlockTarget, BlockedCount, UnblockArgs, UnblockedExecutions};
pub use super::cancel::{CancelArgs, CancelledExecution};
pub use super::complete::{CompleteArgs, CompletedExecution};
pub use super::deadline::*;
pub use super::delay::{DelayArgs, DelayedExecution};
pub use super::fail::{FailArgs, FailedAttempt};
pub use super::hold::{HoldArgs, HoldPlaced, HoldReleased, ReleaseHoldArgs};
pub use super::priority::{ChangePriorityArgs, PriorityChanged};
pub use super::progress::{ProgressArgs, RecordedProgress};
pub use super::replay::{ReplayArgs, ReplayedExecution};
pub use super::submit::{Start, SubmitArgs, SubmittedExecution};
pub use super::tag::{SetTagsArgs, TaggedExecution};
pub use crate::operation::command::{check_message, check_payload};
pub use bulk::{BulkAction, BulkArgs, BulkPage, BulkRefusal};
pub use filter::Filter;
pub use listing::{Cursor, ListArgs, Page};
pub use reading::{Attempts, ExecutionEnd, ExecutionInfo, LeaseInfo};
