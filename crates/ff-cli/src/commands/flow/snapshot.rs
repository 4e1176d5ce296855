//! A flow with all its members and edges, read page by page.

use std::collections::HashMap;

use ff_core::contracts::{EdgeInfo, FlowInfo, MemberInfo};
use ff_core::types::ExecutionId;
use ff_sdk::FlowHandle;

/// A flow with all its members and edges.
pub(super) struct FlowSnapshot {
    pub(super) info: FlowInfo,
    pub(super) members: Vec<MemberInfo>,
    pub(super) edges: Vec<EdgeInfo>,
    places: HashMap<ExecutionId, usize>,
}

impl FlowSnapshot {
    /// Reads a flow and all pages of its members and edges.
    pub(super) async fn read(flow: &FlowHandle) -> anyhow::Result<Self> {
        let (info, members, edges) = (flow.describe().await?, flow.members().await?, flow.edges().await?);
        Ok(Self::of(info, members, edges))
    }

    fn of(info: FlowInfo, members: Vec<MemberInfo>, edges: Vec<EdgeInfo>) -> Self {
        let places = members.iter().enumerate().map(|(place, member)| (member.execution_id, place)).collect();
        Self { info, members, edges, places }
    }

    /// Converts the snapshot into the type for JSON output.
    pub(super) fn into_view(self) -> ff_api::FlowView {
        let (members, edges) = (self.members, self.edges);
        let graph = ff_api::FlowGraph { members, next_member: None, edges, next_edge: None };
        ff_api::FlowView { flow: self.info, graph: Some(graph) }
    }

    /// Returns every edge with its upstream and its downstream member.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&EdgeInfo, &MemberInfo, &MemberInfo)> {
        self.edges.iter().filter_map(|edge| {
            Some((edge, self.member(&edge.upstream_execution_id)?, self.member(&edge.downstream_execution_id)?))
        })
    }

    pub(super) fn member(&self, id: &ExecutionId) -> Option<&MemberInfo> {
        self.places.get(id).map(|place| &self.members[*place])
    }
}

#[cfg(test)]
pub(super) mod samples {
    use ff_core::contracts::FlowInfo;
    use ff_core::flow::{EdgeState, FlowState};
    use ff_core::state::PublicState;
    use ff_core::types::{EdgeId, FlowId, Kind, LaneId, Namespace, NodeName, TimestampMs};
    use uuid::Uuid;

    use super::*;

    /// Returns a flow with the given edges, as in `a>b a>c`. Members are in the order of their first mention.
    pub(in super::super) fn flow(graph: &str) -> FlowSnapshot {
        let ends = || graph.split_whitespace().filter_map(|edge| edge.split_once('>'));
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut members = Vec::new();
        for name in ends().flat_map(|(upstream, downstream)| [upstream, downstream]) {
            places.entry(name).or_insert_with(|| {
                members.push(member(name, members.len()));
                members.len() - 1
            });
        }
        let edges = ends().enumerate().map(|(nth, (upstream, downstream))| EdgeInfo {
            edge_id: EdgeId::from_uuid(Uuid::from_u128(nth as u128)),
            upstream_execution_id: members[places[upstream]].execution_id,
            downstream_execution_id: members[places[downstream]].execution_id,
            passes: None,
            state: EdgeState::Pending,
        });
        let edges: Vec<_> = edges.collect();
        let info = FlowInfo {
            flow_id: FlowId::from_uuid(Uuid::nil()),
            namespace: Namespace::default_name(),
            kind: Kind::parse("etl").unwrap(),
            state: FlowState::Open,
            tags: Default::default(),
            graph_revision: 1,
            nodes: count(members.len()),
            edges: count(edges.len()),
            counts: members.iter().map(|member| member.public_state).collect(),
            held_open: false,
            created_at: TimestampMs(0),
            started_at: None,
            ended_at: None,
            cancel: None,
            trace: None,
        };
        FlowSnapshot::of(info, members, edges)
    }

    fn member(name: &str, position: usize) -> MemberInfo {
        MemberInfo {
            node: NodeName::parse(name).unwrap(),
            position: count(position),
            execution_id: ExecutionId::new(0, Uuid::from_u128(position as u128)),
            kind: Kind::parse("work").unwrap(),
            lane_id: LaneId::default_name(),
            public_state: PublicState::Waiting,
            started_at: None,
            finished_at: None,
            attempts_made: 0,
            replays: 0,
            failure: None,
            group: None,
        }
    }

    fn count(size: usize) -> u32 {
        u32::try_from(size).unwrap()
    }
}
