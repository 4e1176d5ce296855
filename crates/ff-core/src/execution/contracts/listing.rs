//! Listing executions, a page at a time.

use std::fmt;
use std::str::FromStr;

use super::{ExecutionInfo, Filter};
use crate::engine_error::{Code, Refusal, check_page};
use crate::execution::Execution;
use crate::limits;
use crate::types::{ExecutionId, TimestampMs, as_text};

/// Request for one page of a listing, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListArgs {
    pub filter: Filter,
    pub after: Option<Cursor>,
    pub limit: usize,
}

impl ListArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        self.filter.check()?;
        check_page(self.limit, limits::PAGE)
    }

    /// Returns whether an execution at this position can be on the page: after the end of the previous page, and created
    /// within the requested time.
    pub fn reaches(&self, place: Cursor) -> bool {
        self.after.is_none_or(|after| place < after) && self.filter.covers(place.created_at)
    }
}

/// The position at which a page ended: creation time and id of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub created_at: TimestampMs,
    pub execution_id: ExecutionId,
}

impl Cursor {
    /// Returns the position of an execution in every listing. It never changes, so a listing during writes shows each
    /// execution that exists from its first page to its last exactly once.
    pub fn of(execution: &Execution) -> Self {
        Self { created_at: execution.created_at, execution_id: execution.id }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.created_at, self.execution_id.partition(), self.execution_id.uuid())
    }
}

impl FromStr for Cursor {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = || {
            let (created, id) = text.split_once('.')?;
            let (partition, uuid) = id.split_once('.')?;
            let execution_id = format!("{{fp:{partition}}}:{uuid}").parse().ok()?;
            Some(Self { created_at: TimestampMs(created.parse().ok()?), execution_id })
        };
        parts().ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

as_text!(Cursor);

/// One page of a listing. A page ends after a limited number of examined executions, so it may have few rows or none and
/// still not be the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub executions: Vec<ExecutionInfo>,
    /// Start of the next page; absent on the last one.
    pub next: Option<Cursor>,
}

impl Page {
    /// Builds a page from executions in the order of an index, newest first. Stores may end a page elsewhere; all pages
    /// together have the same rows.
    pub fn of<'e>(walk: impl IntoIterator<Item = &'e Execution>, args: &ListArgs) -> Self {
        let mut page = Self { executions: Vec::new(), next: None };
        let (mut looked, mut last, mut row) = (0, None, None);
        for execution in walk {
            if looked == limits::SEARCH {
                page.next = if page.executions.len() == args.limit { row } else { last };
                break;
            }
            looked += 1;
            last = Some(Cursor::of(execution));
            if !args.filter.wants(execution) {
                continue;
            }
            if page.executions.len() == args.limit {
                page.next = row;
                break;
            }
            row = last;
            page.executions.push(execution.info());
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::waiting;
    use crate::state::PublicState;
    use crate::types::Namespace;
    use uuid::Uuid;

    fn args(state: PublicState, limit: usize) -> ListArgs {
        let filter = Filter { state: Some(state), ..Filter::everything(Namespace::default_name()) };
        ListArgs { filter, after: None, limit }
    }

    #[test]
    fn a_page_that_looked_at_enough_ends_and_says_where_to_go_on() {
        let other = waiting();
        let walk = |count| Page::of(std::iter::repeat_n(&other, count), &args(PublicState::Suspended, 1));
        assert_eq!(walk(limits::SEARCH), Page { executions: vec![], next: None });
        assert_eq!(walk(limits::SEARCH + 1), Page { executions: vec![], next: Some(Cursor::of(&other)) });
    }

    #[test]
    fn a_page_ends_with_its_last_row_when_there_is_another() {
        let row = |n| {
            let mut row = waiting();
            row.id = ExecutionId::new(0, Uuid::from_u128(n));
            row
        };
        let rows: Vec<_> = (1..=3_u128).rev().map(row).collect();
        let page = Page::of(&rows, &args(PublicState::Waiting, 2));
        assert_eq!((page.executions.len(), page.next), (2, Some(Cursor::of(&rows[1]))));
        assert_eq!(Page::of(&rows, &args(PublicState::Waiting, 3)).next, None, "a full last page is still the last");
    }

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let cursor = Cursor { created_at: TimestampMs(17), execution_id: ExecutionId::new(3, Uuid::from_u128(9)) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "x", "17", "17.3", "17.3.x", "x.3.00000000-0000-0000-0000-000000000009"] {
            assert_eq!(text.parse::<Cursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }
}
