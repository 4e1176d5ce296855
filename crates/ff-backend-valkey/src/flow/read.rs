//! Reading a flow, and its members, edges and events page by page. A page may take several calls, so that no call
//! occupies the server for long.

use ff_core::backend::Answer;
use ff_core::contracts::{
    EdgeInfo, EdgesPage, FlowEdgesArgs, FlowEventsArgs, FlowEventsPage, FlowMembersArgs, MembersPage,
};
use ff_core::flow::{Edge, Flow};
use ff_core::partition::flow_partition;
use ff_core::types::{EdgeId, FlowId};
use ff_script::flow::{
    EdgeFields, FlowQuery, MemberFields, ff_read_flow, ff_read_flow_edges, ff_read_flow_events, ff_read_flow_members,
};

use crate::ValkeyBackend;

/// Maximum number of rows requested with one call. A call could return more, so a shorter answer is the last one.
const CALL: usize = 50;

impl ValkeyBackend {
    /// Reads a flow.
    pub(crate) async fn flow(&self, id: &FlowId, look: FlowQuery) -> Answer<Flow> {
        let fields = ff_read_flow(&*self.calls, &self.partitions, id, look).await?;
        Ok(fields.flow(*id, flow_partition(id, &self.partitions).index)?)
    }

    pub(super) async fn members_page(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        args.check()?;
        let found = self.members(&args.flow_id, args.from, args.limit + 1, false).await?;
        let mut members = found.iter().map(|member| member.info(args.flow_id)).collect::<Result<Vec<_>, _>>()?;
        let next = members.get(args.limit).map(|member| member.position);
        members.truncate(args.limit);
        Ok(MembersPage { members, next })
    }

    pub(super) async fn edges_page(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        args.check()?;
        let found = self.edges(&args.flow_id, args.after, args.limit + 1, false).await?;
        let more = found.len() > args.limit;
        let edges = found.iter().take(args.limit).map(|edge| edge.edge(args.flow_id));
        let edges = edges.collect::<Result<Vec<Edge>, _>>()?;
        let next = edges.last().map(|edge| edge.id).filter(|_| more);
        Ok(EdgesPage { edges: edges.iter().map(EdgeInfo::from).collect(), next })
    }

    /// Reads a page of events. The reader gets a hint when there are more.
    pub(super) async fn events_page(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        args.check()?;
        let FlowEventsArgs { flow_id, from, limit } = args;
        let mut page = self.some_events(&flow_id, from, limit).await?;
        let mut is_full = page.events.len() == CALL;
        while is_full && page.events.len() < limit {
            let more = self.some_events(&flow_id, page.next, limit - page.events.len()).await?;
            // The next event may be trimmed by now; then the page ends before it.
            if more.missed {
                break;
            }
            is_full = more.events.len() == CALL;
            page.events.extend(more.events);
            (page.next, page.ended) = (more.next, more.ended);
        }
        Ok(page)
    }

    /// Reads as many events as one call returns.
    async fn some_events(&self, id: &FlowId, from: u64, limit: usize) -> Answer<FlowEventsPage> {
        let (limit, look) = (limit.min(CALL), FlowQuery { staged: false, awaited: true });
        Ok(ff_read_flow_events(&*self.calls, &self.partitions, id, from, limit, look).await?.page(from)?)
    }

    /// Reads at most `limit` members from a position on.
    pub(crate) async fn members(
        &self,
        id: &FlowId,
        from: u32,
        limit: usize,
        staged: bool,
    ) -> Answer<Vec<MemberFields>> {
        let mut members = Vec::new();
        loop {
            let (at, wanted) = (from.saturating_add(count(members.len())), (limit - members.len()).min(CALL));
            let some = ff_read_flow_members(&*self.calls, &self.partitions, id, at, wanted, staged).await?;
            let last = some.len() < wanted;
            members.extend(some);
            if last || members.len() >= limit {
                return Ok(members);
            }
        }
    }

    /// Reads at most `limit` edges after an edge.
    pub(crate) async fn edges(
        &self,
        id: &FlowId,
        after: Option<EdgeId>,
        limit: usize,
        staged: bool,
    ) -> Answer<Vec<EdgeFields>> {
        let mut edges: Vec<EdgeFields> = Vec::new();
        loop {
            let (after, wanted) = (edges.last().map(|edge| edge.id).or(after), (limit - edges.len()).min(CALL));
            let some = ff_read_flow_edges(&*self.calls, &self.partitions, id, after, wanted, staged).await?;
            let last = some.len() < wanted;
            edges.extend(some);
            if last || edges.len() >= limit {
                return Ok(edges);
            }
        }
    }
}

fn count(members: usize) -> u32 {
    u32::try_from(members).unwrap_or(u32::MAX)
}
