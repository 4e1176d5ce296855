//! Views of flows on the wire.

use ff_core::contracts::{self, EdgeInfo, EdgesPage, FlowInfo, MemberInfo, MembersPage};
use ff_core::engine_error::Refusal;
use ff_core::types::EdgeId;

use crate::object::answers;

answers! {
    /// One page of a listing.
    pub struct FlowsPage {
        pub flows: Vec<FlowInfo>,
        /// The `cursor` of the next page; absent on the last one.
        pub next_cursor: Option<String>,
    }
}

impl From<contracts::FlowsPage> for FlowsPage {
    fn from(page: contracts::FlowsPage) -> Self {
        Self { flows: page.flows, next_cursor: page.next.map(|cursor| cursor.to_string()) }
    }
}

impl FlowsPage {
    /// Returns the page. Refuses an invalid cursor.
    pub fn into_page(self) -> Result<contracts::FlowsPage, Refusal> {
        let next = self.next_cursor.map(|cursor| cursor.parse()).transpose()?;
        Ok(contracts::FlowsPage { flows: self.flows, next })
    }
}

answers! {
    /// A flow, with the requested part of its graph.
    pub struct FlowView {
        #[serde(flatten)]
        pub flow: FlowInfo,
        pub graph: Option<FlowGraph>,
    }

    /// The first members and edges of a flow.
    pub struct FlowGraph {
        pub members: Vec<MemberInfo>,
        /// The `from` for listing the remaining members; absent when these are all.
        pub next_member: Option<u32>,
        pub edges: Vec<EdgeInfo>,
        /// The `after` for listing the remaining edges; absent when these are all.
        pub next_edge: Option<EdgeId>,
    }
}

impl FlowGraph {
    /// Combines the first page of members and the first page of edges.
    pub fn of(members: MembersPage, edges: EdgesPage) -> Self {
        Self { members: members.members, next_member: members.next, edges: edges.edges, next_edge: edges.next }
    }
}
