//! Submission ids that are taken for new. Callers draw the ids, so nearly all are new. A store behind a network does not look them
//! up. Its primary key refuses an id that exists; the batch is then undone and decided again over the stored records.

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

/// Returns whether an operation is a submission whose id was taken for new. A refused submission inserts no row, so the primary
/// key does not check its id.
pub(super) fn was_taken_for_new(state: &BatchState, operation: &Operation, partitions: &PartitionConfig) -> bool {
    insertion(operation).is_some_and(|submission| state.was_taken_for_new(&submission.execution_id(partitions)))
}

/// Returns the submission of an operation that inserts an execution under its own id. One with a key may find another execution.
fn insertion(operation: &Operation) -> Option<&SubmitArgs> {
    match operation {
        Operation::Submit(args) => Some(args).filter(|args| args.idempotency_key.is_none() && args.key_rule.is_none()),
        _ => None,
    }
}
