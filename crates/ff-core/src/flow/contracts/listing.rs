//! Listing flows, a page at a time.

use std::fmt;
use std::str::FromStr;

use super::FlowInfo;
use crate::engine_error::{Code, Refusal, check_page};
use crate::flow::{Flow, FlowState};
use crate::limits;
use crate::types::{FlowId, Kind, Namespace, TagKey, TagValue, TimestampMs};

/// A request for a page of flows, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFlowsArgs {
    pub namespace: Namespace,
    pub kind: Option<Kind>,
    pub state: Option<FlowState>,
    pub tag: Option<(TagKey, TagValue)>,
    pub after: Option<FlowCursor>,
    pub limit: usize,
}

impl ListFlowsArgs {
    /// Returns a request for the newest flows of a namespace.
    pub fn new(namespace: Namespace) -> Self {
        Self { namespace, kind: None, state: None, tag: None, after: None, limit: limits::PAGE_DEFAULT }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }

    /// Returns whether a flow matches the filters, regardless of the start of the page.
    pub fn wants(&self, flow: &Flow) -> bool {
        flow.is_visible()
            && flow.namespace == self.namespace
            && self.kind.as_ref().is_none_or(|kind| flow.kind == *kind)
            && self.state.is_none_or(|state| flow.state() == state)
            && self.tag.as_ref().is_none_or(|(key, value)| flow.tags.get(key) == Some(value))
    }
}

/// The position at which a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowCursor {
    pub created_at: TimestampMs,
    pub flow_id: FlowId,
}

impl FlowCursor {
    /// Returns the position of a flow in the listing.
    pub fn of(flow: &Flow) -> Self {
        Self { created_at: flow.created_at, flow_id: flow.id }
    }
}

impl fmt::Display for FlowCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created_at, self.flow_id)
    }
}

impl FromStr for FlowCursor {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = || {
            let (created, id) = text.split_once('.')?;
            Some(Self { created_at: TimestampMs(created.parse().ok()?), flow_id: id.parse().ok()? })
        };
        parts().ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowsPage {
    pub flows: Vec<FlowInfo>,
    /// Start of the next page; absent on the last one.
    pub next: Option<FlowCursor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let cursor = FlowCursor { created_at: TimestampMs(17), flow_id: FlowId::new() };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "17", "17.x", "x.00000000-0000-0000-0000-000000000009"] {
            assert_eq!(text.parse::<FlowCursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }

    #[test]
    fn a_page_is_taken_at_its_limit_and_refused_one_past_it() {
        assert_eq!(check_page(limits::PAGE, limits::PAGE), Ok(()));
        assert_eq!(check_page(limits::PAGE + 1, limits::PAGE).unwrap_err().code, Code::LimitExceeded);
        assert_eq!(check_page(0, limits::PAGE).unwrap_err().code, Code::InvalidInput);
    }
}
