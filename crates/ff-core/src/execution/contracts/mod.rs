//! Arguments and replies about executions.

mod bulk;
mod filter;
mod listing;
mod reading;

pub use super::block::{BlockArgs, BlockTarget, BlockedCount, UnblockArgs, UnblockedExecutions};
pub use super::cancel::{CancelArgs, Cancelled};
pub use super::complete::{CompleteArgs, Completed};
pub use super::deadline::*;
pub use super::delay::{DelayArgs, Delayed};
pub use super::fail::{FailArgs, Failed};
pub use super::hold::{HoldArgs, HoldPlaced, HoldReleased, ReleaseHoldArgs};
pub use super::priority::{ChangePriorityArgs, PriorityChanged};
pub use super::progress::{Noted, ProgressArgs};
pub use super::replay::{ReplayArgs, Replayed};
pub use super::submit::{Start, SubmitArgs, Submitted};
pub use super::tag::{SetTagsArgs, Tagged};
pub use crate::operation::command::{check_message, check_payload};
pub use bulk::{BulkAction, BulkArgs, BulkPage, BulkRefusal};
pub use filter::Filter;
pub use listing::{Cursor, ListArgs, Page};
pub use reading::{Attempts, ExecutionEnd, ExecutionInfo, LeaseInfo};
