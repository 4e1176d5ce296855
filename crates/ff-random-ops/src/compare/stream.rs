//! Compares the output of executions, as readers get it.

use super::calls::refusal;
use super::{Comparison, Difference, differ, find};
use crate::prelude::*;

/// Reads all of an execution's output, a few items at a time, and that of one attempt.
pub(crate) async fn look(comparison: &Comparison, id: &ExecutionId, nth: usize) -> Result<(), Difference> {
    let limit = 1 + nth % 7;
    let first = u32::try_from(nth % 3).unwrap_or_default();
    for attempt in [None, Some(AttemptIndex(first))] {
        let mut args = ReadStreamArgs { execution_id: *id, attempt, from: None, limit };
        loop {
            let page = read_reference(comparison, &args);
            differ(format!("{args:?}"), &page, &refusal(comparison.calls().read_stream(args.clone()).await))?;
            match page {
                Ok(page) if !page.items.is_empty() => args.from = Some(page.next),
                _ => break,
            }
        }
    }
    Ok(())
}

fn read_reference(comparison: &Comparison, args: &ReadStreamArgs) -> Result<StreamPage, Refusal> {
    let found = find(&comparison.reference, &args.execution_id)?;
    StreamPage::of(args, comparison.reference.model.stream_parts(found, args))
}
