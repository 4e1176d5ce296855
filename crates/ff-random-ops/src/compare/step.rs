//! Compares the recorded steps, as readers get them.

use super::calls::refusal;
use super::{Comparison, Difference, differ, find};
use crate::prelude::*;

/// Reads all steps of an execution, a few at a time.
pub(crate) async fn look(comparison: &Comparison, id: &ExecutionId, nth: usize) -> Result<(), Difference> {
    let mut args = ListStepsArgs { execution_id: *id, after: None, limit: 1 + nth % 4 };
    loop {
        let page = read_reference(comparison, &args);
        differ(format!("{args:?}"), &page, &refusal(comparison.calls().list_steps(args).await))?;
        match page {
            Ok(StepsPage { next: Some(next), .. }) => args.after = Some(next),
            _ => return Ok(()),
        }
    }
}

fn read_reference(comparison: &Comparison, args: &ListStepsArgs) -> Result<StepsPage, Refusal> {
    let found = find(&comparison.reference, &args.execution_id)?;
    Ok(comparison.reference.model.steps_page(&found.id, args.after, args.limit, limits::PAGE_BYTES))
}
