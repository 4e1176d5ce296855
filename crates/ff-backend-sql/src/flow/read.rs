//! Reading one flow and its side records.

use std::cmp::Reverse;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{
    EdgeInfo, EdgesPage, FlowCursor, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs,
    FlowsPage, ListFlowsArgs, MemberInfo, MembersPage,
};
use ff_core::engine_error::Code;
use ff_core::flow::{Edge, Flow, FlowEvent, FlowState};
use ff_core::limits;
use ff_core::operation::query::{DescribeFlow, EndOfFlow, NamespaceOfFlow};
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::types::{EdgeId, FlowId, Namespace, TimestampMs};
use uuid::Uuid;

use super::{key_of_flow, read_edge, read_optional_group};
use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::{namespace_in, read_execution};
use crate::flow::queries::{EDGES_AFTER, FLOW_EVENTS_FROM, LIST_FLOWS, MEMBERS_FROM};
use crate::session::{Question, Read, load_record};
use crate::table::record;
use crate::table::schema::FLOW;
use crate::table::value::{Row, Value};

#[async_trait]
impl Question for DescribeFlow {
    type Answer = FlowInfo;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<FlowInfo> {
        Ok(found(reader, &self.flow_id, &at.partitions).await?.info())
    }
}

#[async_trait]
impl Question for EndOfFlow {
    type Answer = Option<FlowEnd>;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Option<FlowEnd>> {
        Ok(found(reader, &self.flow_id, &at.partitions).await?.info().end())
    }
}

#[async_trait]
impl Question for NamespaceOfFlow {
    type Answer = Option<Namespace>;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Option<Namespace>> {
        let partition = flow_partition(&self.flow_id, &at.partitions).index;
        Ok(namespace_in(reader, &FLOW, key_of_flow(&self.flow_id, partition)).await?)
    }
}

#[async_trait]
impl Question for FlowMembersArgs {
    type Answer = MembersPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<MembersPage> {
        let FlowMembersArgs { flow_id, from, limit } = self;
        found(reader, &flow_id, &at.partitions).await?;
        // One more member than a page tells where the next page starts.
        let parameters = vec![Value::Uuid(*flow_id.as_uuid()), Value::number(from), Value::number(limit + 1)];
        let rows: Vec<_> = reader.query(MEMBERS_FROM, &[parameters]).await?.into_iter().flatten().collect();
        let next = rows.get(limit).map(|row| row.count(0)).transpose()?;
        let members = rows.iter().take(limit).map(member).collect::<Result<Vec<_>, _>>()?;
        Ok(MembersPage { members: members.into_iter().flatten().collect(), next })
    }
}

fn member(row: &Row) -> Result<Option<MemberInfo>, SqlError> {
    let execution = read_execution(row, 1)?;
    Ok(MemberInfo::of(&execution, read_optional_group(execution.id, row, 3)?.as_ref()))
}

#[async_trait]
impl Question for FlowEdgesArgs {
    type Answer = EdgesPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<EdgesPage> {
        let FlowEdgesArgs { flow_id, after, limit } = self;
        let flow = found(reader, &flow_id, &at.partitions).await?;
        // One more edge than a page tells whether another page follows.
        let edges = edges_after(reader, &flow_id, flow.partition, after, limit + 1).await?;
        let page: Vec<EdgeInfo> = edges.iter().take(limit).map(EdgeInfo::from).collect();
        let next = page.last().map(|edge| edge.edge_id).filter(|_| edges.len() > limit);
        Ok(EdgesPage { edges: page, next })
    }
}

#[async_trait]
impl Question for FlowEventsArgs {
    type Answer = FlowEventsPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<FlowEventsPage> {
        let flow = found(reader, &self.flow_id, &at.partitions).await?;
        let events = events_from(reader, &flow.id, self.from, self.limit).await?;
        Ok(FlowEventsPage::of(&flow, events.iter(), &self))
    }
}

/// Returns whether a flow is visible. A staged one is not.
pub(crate) async fn is_there(reader: &mut dyn Read, id: &FlowId, partition: u16) -> Result<bool, SqlError> {
    Ok(visible(reader, id, partition).await?.is_some())
}

/// Returns the edges of a flow after a given edge, ordered by id.
pub(crate) async fn edges_after(
    reader: &mut dyn Read,
    flow: &FlowId,
    partition: u16,
    after: Option<EdgeId>,
    limit: usize,
) -> Result<Vec<Edge>, SqlError> {
    let after = after.map_or(Uuid::nil(), |after| *after.as_uuid());
    let parameters = vec![Value::Uuid(*flow.as_uuid()), Value::Uuid(after), Value::number(limit)];
    let rows = reader.query(EDGES_AFTER, &[parameters]).await?;
    rows.iter().flatten().map(|row| read_edge(*flow, partition, row)).collect()
}

/// Returns the events of a flow from a number on, oldest first.
pub(crate) async fn events_from(
    reader: &mut dyn Read,
    flow: &FlowId,
    from: u64,
    limit: usize,
) -> Result<Vec<FlowEvent>, SqlError> {
    let parameters = vec![Value::Uuid(*flow.as_uuid()), Value::number(from), Value::number(limit)];
    let rows = reader.query(FLOW_EVENTS_FROM, &[parameters]).await?;
    rows.iter().flatten().map(|row| record::read(row.text(0)?)).collect()
}

/// Returns a visible flow, or refuses.
async fn found(reader: &mut dyn Read, id: &FlowId, partitions: &PartitionConfig) -> Answer<Flow> {
    Ok(visible(reader, id, flow_partition(id, partitions).index).await?.ok_or(Code::FlowNotFound)?)
}

async fn visible(reader: &mut dyn Read, id: &FlowId, partition: u16) -> Result<Option<Flow>, SqlError> {
    let flow: Option<Flow> = load_record(reader, &FLOW, key_of_flow(id, partition)).await?;
    Ok(flow.filter(|flow| flow.staging.is_none()))
}

#[async_trait]
impl Question for ListFlowsArgs {
    type Answer = FlowsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<FlowsPage> {
        let args = self;
        // One more flow than a page tells whether another page follows.
        let enough = args.limit + 1;
        let picky = args.kind.is_some() || args.tag.is_some();
        let at_once = if picky { limits::PAGE.max(enough) } else { enough };
        // No flow is newer than this.
        let start = FlowCursor { created_at: TimestampMs(i64::MAX), flow_id: FlowId::from_uuid(Uuid::max()) };
        let mut after = Some(args.after.unwrap_or(start));
        let mut flows: Vec<Flow> = Vec::new();
        while let Some(place) = after.filter(|_| flows.len() < enough) {
            let next = next_flows(reader, &args, place, at_once).await?;
            after = next.last().map(FlowCursor::of).filter(|_| next.len() == at_once);
            flows.extend(next.into_iter().filter(|flow| args.wants(flow)));
        }
        let more = flows.len() > args.limit;
        flows.truncate(args.limit);
        let next = flows.last().map(FlowCursor::of).filter(|_| more);
        Ok(FlowsPage { flows: flows.iter().map(Flow::info).collect(), next })
    }
}

/// Returns the next flows in the states of the filter, of any kind and with any tags.
async fn next_flows(
    reader: &mut dyn Read,
    args: &ListFlowsArgs,
    after: FlowCursor,
    limit: usize,
) -> Result<Vec<Flow>, SqlError> {
    let states = args.state.as_ref().map_or(FlowState::ALL, std::slice::from_ref);
    let of = |state: &FlowState| {
        vec![
            args.namespace.as_str().into(),
            state.as_str().into(),
            after.created_at.into(),
            Value::Uuid(*after.flow_id.as_uuid()),
            Value::number(limit),
        ]
    };
    // A staged flow is visible to no caller.
    let parameters: Vec<_> = states.iter().filter(|state| **state != FlowState::Staging).map(of).collect();
    let lists = reader.query(LIST_FLOWS, &parameters).await?;
    let mut rows =
        lists.into_iter().flatten().map(|row| Ok((place(&row)?, row))).collect::<Result<Vec<_>, SqlError>>()?;
    rows.sort_unstable_by_key(|(place, _)| Reverse(*place));
    rows.truncate(limit);
    rows.iter().map(|(_, row)| record::read(row.text(2)?)).collect()
}

fn place(row: &Row) -> Result<FlowCursor, SqlError> {
    Ok(FlowCursor { created_at: row.moment(0)?, flow_id: FlowId::from_uuid(row.uuid(1)?) })
}
