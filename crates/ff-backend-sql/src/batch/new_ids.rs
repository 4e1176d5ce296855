//! The ids of submissions, which their callers draw and which are nearly always new. A store behind a network takes them for new
//! instead of asking. Its primary key refuses one that is not: the batch is then undone and decided again, over what is there.

use ff_core::contracts::SubmitArgs;
use ff_core::operation::Operation;
use ff_core::partition::PartitionConfig;

use super::QueuedOperation;
use crate::batch_state::BatchState;

/// Takes the ids of a batch's submissions for new.
pub(super) fn take_for_new(state: &mut BatchState, batch: &[QueuedOperation], partitions: &PartitionConfig) {
    for submission in batch.iter().filter_map(|queued| insertion(&queued.operation)) {
        state.take_for_new(submission.execution_id(partitions));
    }
}

/// Whether an operation is a submission whose id was taken for new. If it is refused, no insertion shows whether that was right.
pub(super) fn was_taken_for_new(state: &BatchState, operation: &Operation, partitions: &PartitionConfig) -> bool {
    insertion(operation).is_some_and(|submission| state.was_taken_for_new(&submission.execution_id(partitions)))
}

/// A submission that inserts its execution unless that is there or it is refused. One with a key may find another execution.
fn insertion(operation: &Operation) -> Option<&SubmitArgs> {
    match operation {
        Operation::Submit(args) => Some(args).filter(|args| args.idempotency_key.is_none() && args.key_rule.is_none()),
        _ => None,
    }
}
