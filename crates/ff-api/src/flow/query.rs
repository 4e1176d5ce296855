//! Query parameters of the routes of flows.

use ff_core::flow::FlowState;
use ff_core::limits;
use ff_core::types::{EdgeId, Kind, Namespace, TagKey, TagValue};
use serde::{Deserialize, Serialize};

use crate::query::{Limit, WaitMs, query};

query! {
    /// Parameters of the list of flows.
    FlowsQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Only this kind.
        kind: Kind,
        /// Only this state.
        state: FlowState,
        /// Only flows with this tag: KEY:VALUE.
        tag: TagFilter,
        /// Cursor from the previous page.
        cursor: String,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of a read of a flow.
    FlowQuery {
        /// Maximum number of members and edges to include.
        graph: GraphLimit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

query! {
    /// Parameters of the list of members.
    MembersQuery {
        /// Number of the first member (default: 0).
        from: u32,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of the list of edges.
    EdgesQuery {
        /// Last entry of the previous page.
        after: EdgeId,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of the events of a flow.
    FlowEventsQuery {
        /// Number of the first event (default: 0).
        from: u64,
        /// Maximum number of results.
        limit: Limit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

/// Maximum number of members and edges in the view of a flow; zero for a view without its graph.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GraphLimit(pub usize);

impl Default for GraphLimit {
    fn default() -> Self {
        Self(limits::PAGE_DEFAULT)
    }
}

/// A tag, written as its key, a colon and its value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TagFilter(pub TagKey, pub TagValue);

impl From<TagFilter> for String {
    fn from(TagFilter(key, value): TagFilter) -> Self {
        format!("{key}:{value}")
    }
}

impl TryFrom<String> for TagFilter {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (key, value) = text.split_once(':').ok_or("must be a key, a colon and a value")?;
        let key = TagKey::parse(key).map_err(|error| format!("has the key {key:?}: {error}"))?;
        let value = TagValue::parse(value).map_err(|error| format!("has the value {value:?}: {error}"))?;
        Ok(Self(key, value))
    }
}
