//! Listing executions, a page at a time.

use std::fmt;
use std::str::FromStr;

use super::ExecutionInfo;
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::state::PublicState;
use crate::types::{ExecutionId, LaneId, Namespace, TimestampMs};

/// Which executions to list: newest first, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListArgs {
    pub namespace: Namespace,
    pub lane: Option<LaneId>,
    pub state: Option<PublicState>,
    pub after: Option<Cursor>,
    pub limit: usize,
}

impl ListArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            1..=limits::PAGE => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
        }
    }
}

/// Where a page ended: the last row's creation and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub created_at: TimestampMs,
    pub execution_id: ExecutionId,
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

/// One page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub executions: Vec<ExecutionInfo>,
    /// Where the next page starts; absent on the last one.
    pub next: Option<Cursor>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let cursor = Cursor { created_at: TimestampMs(17), execution_id: ExecutionId::new(3, Uuid::from_u128(9)) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "x", "17", "17.3", "17.3.x", "x.3.00000000-0000-0000-0000-000000000009"] {
            assert_eq!(text.parse::<Cursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }
}
