//! Pages of the recorded steps of an execution.

use super::Step;
use crate::engine_error::{Refusal, check_page};
use crate::limits;
use crate::types::ExecutionId;

/// A request for the recorded steps of an execution, in the order of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListStepsArgs {
    pub execution_id: ExecutionId,
    /// Number of the last step of the previous page; absent for the first page.
    pub after: Option<u32>,
    pub limit: usize,
}

/// Some steps, and whether there are more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepsPage {
    pub steps: Vec<Step>,
    /// The `after` of the next page; absent when there is none.
    pub next: Option<u32>,
}

impl ListStepsArgs {
    /// Creates a request for the first page.
    pub fn new(execution_id: ExecutionId) -> Self {
        Self { execution_id, after: None, limit: limits::STEPS_PAGE }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

impl StepsPage {
    /// Creates a page of the first of these steps: at most `limit` steps and `bytes`
    /// bytes, but at least one step, if there is any.
    pub fn of(steps: impl IntoIterator<Item = Step>, limit: usize, bytes: usize) -> Self {
        let mut page = Self::default();
        let mut sum = 0;
        for step in steps {
            sum += step.size();
            if !page.steps.is_empty() && (page.steps.len() == limit || sum > bytes as u64) {
                page.next = page.steps.last().map(|last| last.seq);
                break;
            }
            page.steps.push(step);
        }
        page
    }
}

/// Returns where a page ends, from the numbers and sizes of the steps that it may contain: the number of its last step,
/// and whether another step follows.
pub fn page_end(sizes: impl IntoIterator<Item = (u32, u64)>, limit: usize, bytes: usize) -> Option<(u32, bool)> {
    let (mut last, mut count, mut sum) = (None, 0, 0);
    for (seq, size) in sizes {
        sum += size;
        match last {
            Some(last) if count == limit || sum > bytes as u64 => return Some((last, true)),
            _ => (last, count) = (Some(seq), count + 1),
        }
    }
    last.map(|last| (last, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::rule::samples::at;
    use crate::step::{StepOutcome, StepRef};
    use crate::types::{AttemptIndex, StepName};

    fn steps(sizes: &[usize]) -> Vec<Step> {
        let step = |(seq, size): (u32, &usize)| Step {
            seq,
            step: StepRef::new(StepName::parse("s").unwrap()),
            attempt: AttemptIndex(0),
            started_at: at(0),
            recorded_at: at(0),
            // The name has one byte, too.
            outcome: StepOutcome::Succeeded { result: Payload::bytes(vec![0; size - 1]) },
        };
        (0..).zip(sizes).map(step).collect()
    }

    fn page(sizes: &[usize], limit: usize, bytes: usize) -> (usize, Option<u32>) {
        let steps = steps(sizes);
        let end = page_end(steps.iter().map(|step| (step.seq, step.size())), limit, bytes);
        let page = StepsPage::of(steps, limit, bytes);
        let page_last = page.steps.last().map(|last| (last.seq, page.next.is_some()));
        assert_eq!(end, page_last, "both ways of cutting a page agree");
        (page.steps.len(), page.next)
    }

    #[test]
    fn a_page_ends_at_its_limit_or_before_it_passes_its_bytes() {
        assert_eq!(page(&[5, 5, 5], 3, 100), (3, None));
        assert_eq!(page(&[5, 5, 5], 2, 100), (2, Some(1)));
        assert_eq!(page(&[5, 5, 5], 3, 10), (2, Some(1)));
        assert_eq!(page(&[5, 5, 5], 3, 9), (1, Some(0)));
        assert_eq!(page(&[50, 5], 3, 9), (1, Some(0)), "one comes however large it is");
        assert_eq!(page(&[], 3, 9), (0, None));
    }
}
