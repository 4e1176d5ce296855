//! The room of executions.

use async_trait::async_trait;

use super::Answer;
use crate::execution::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use crate::payload::Payload;
use crate::types::ExecutionId;

/// What callers may ask about executions. Every mutation is safe to repeat.
#[async_trait]
pub trait ExecutionRoom: Send + Sync {
    /// Creates an execution, or finds the one already created under the same key or uuid.
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted>;

    /// Submits up to [`crate::limits::BULK`] at once, each with its own outcome, in order.
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>>;

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo>;

    /// Finds executions, newest first. A page looks at a bounded number of them, so it may have few rows, or none, and yet
    /// not be the last.
    async fn list(&self, args: ListArgs) -> Answer<Page>;

    /// The bytes that were submitted.
    async fn payload(&self, id: &ExecutionId) -> Answer<Payload>;

    /// How it ended; refused as `execution_not_terminal` while it has not.
    async fn result(&self, id: &ExecutionId) -> Answer<Ended>;

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts>;

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted>;

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed>;

    async fn fail(&self, args: FailArgs) -> Answer<Failed>;

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed>;

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled>;

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed>;

    /// Cancels or replays what a filter means, one page of it.
    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage>;

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged>;

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged>;
}
