//! Reading flows, their members, their edges and their events, a page at a time.

use ff_core::contracts::{FlowCursor, ListFlowsArgs};
use ff_core::flow::FlowKeyEntry;
use ff_core::keys::FlowIndexKeys;
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily};
use ff_core::types::{EdgeId, ExecutionId, FlowId, TimestampMs};

use super::flow_core_key;
use crate::execution::{counted_from, moment};
use crate::record::{Hash, flow_key};
use crate::server::ask;
use crate::signature::{ListFlows, ReadFlow, ReadFlowEdges, ReadFlowEvents, ReadFlowKeys, ReadFlowMembers};
use crate::{Fields, ScriptError, Server};

/// The options of reading a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowQuery {
    /// Also reads a flow that is staged or being forgotten.
    pub staged: bool,
    /// Requests a hint when the flow ends, or when it has more events.
    pub awaited: bool,
}

/// A flow as the store has it.
#[derive(Default)]
pub struct FlowFields {
    pub(crate) core: Hash,
    pub(crate) summary: Hash,
    pub(crate) tags: Hash,
}

/// A member as the store has it, with the group of edges into it.
pub struct MemberFields {
    pub execution_id: ExecutionId,
    pub(crate) core: Hash,
    pub(crate) group: Hash,
}

/// An edge as the store has it: its fields and its state.
pub struct EdgeFields {
    pub id: EdgeId,
    pub(crate) edge: Hash,
    pub(crate) dep: Hash,
}

/// A page of the events of a flow.
pub struct FlowEventFields {
    /// Number of events so far.
    pub core_events: u64,
    pub ended: bool,
    /// The number of the oldest stored event.
    pub first: Option<u64>,
    pub(crate) events: Vec<(u64, Hash)>,
}

/// A page of a partition's flows, and the place to continue from.
pub struct FlowListPage {
    pub flows: Vec<(FlowId, FlowFields)>,
    pub more: Option<FlowCursor>,
}

/// Reads a flow in one consistent snapshot.
pub async fn ff_read_flow(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &FlowId,
    look: FlowQuery,
) -> Result<FlowFields, ScriptError> {
    let read = ReadFlow { core: flow_core_key(id, partitions), staged: look.staged, await_end: look.awaited };
    FlowFields::read(&mut ask(server, read.call()).await?)
}

/// Reads members in the order they were added, from a position on. A page with fewer than `limit` members is the last
/// one, if `limit` is no more than one call reads.
pub async fn ff_read_flow_members(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &FlowId,
    from: u32,
    limit: usize,
    staged: bool,
) -> Result<Vec<MemberFields>, ScriptError> {
    let core = flow_core_key(id, partitions);
    let read = ReadFlowMembers { core, staged, from: from.into(), limit: limit as u64 };
    ask(server, read.call()).await?.rows(|row| {
        let execution_id = row.read()?;
        Ok(MemberFields { execution_id, core: Hash::parse(row.list()?)?, group: Hash::parse(row.list()?)? })
    })
}

/// Reads edges in the order of their ids, likewise.
pub async fn ff_read_flow_edges(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &FlowId,
    after: Option<EdgeId>,
    limit: usize,
    staged: bool,
) -> Result<Vec<EdgeFields>, ScriptError> {
    let (core, after) = (flow_core_key(id, partitions), after.map(|edge| edge.to_string()));
    let read = ReadFlowEdges { core, staged, after, limit: limit as u64 };
    ask(server, read.call())
        .await?
        .rows(|row| Ok(EdgeFields { id: row.read()?, edge: Hash::parse(row.list()?)?, dep: Hash::parse(row.list()?)? }))
}

/// Reads the events of a flow from a number on.
pub async fn ff_read_flow_events(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &FlowId,
    from: u64,
    limit: usize,
    look: FlowQuery,
) -> Result<FlowEventFields, ScriptError> {
    let (core, FlowQuery { staged, awaited: await_more }) = (flow_core_key(id, partitions), look);
    let read = ReadFlowEvents { core, from: counted_from(from), limit: limit as u64, await_more, staged };
    let mut fields = ask(server, read.call()).await?;
    Ok(FlowEventFields {
        core_events: fields.read()?,
        ended: fields.maybe_text()?.is_some(),
        first: fields.maybe_read()?,
        events: fields.rows(|row| Ok((row.read()?, Hash::parse(row.list()?)?)))?,
    })
}

/// Returns the idempotency keys of changes to a flow's graph, with their answers.
pub async fn ff_read_flow_keys(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &FlowId,
) -> Result<Vec<FlowKeyEntry>, ScriptError> {
    let read = ReadFlowKeys { core: flow_core_key(id, partitions) };
    ask(server, read.call()).await?.rows(|row| flow_key(row.read()?, &Hash::parse(row.list()?)?))
}

/// Lists flows of a namespace on a partition after a place, newest first, optionally of one kind, in one state and with
/// one label. Looks at a bounded number of flows.
pub async fn ff_list_flows(
    server: &dyn Server,
    partition: u16,
    args: &ListFlowsArgs,
    after: Option<FlowCursor>,
) -> Result<FlowListPage, ScriptError> {
    let (tag_key, tag_value) = args.tag.clone().unzip();
    let list = ListFlows {
        flows: FlowIndexKeys::new(&Partition::new(PartitionFamily::Flow, partition)).flows(),
        namespace: args.namespace.to_string(),
        kind: args.kind.as_ref().map(ToString::to_string),
        state: args.state.map(|state| state.to_string()),
        tag_key: tag_key.map(|key| key.to_string()),
        tag_value: tag_value.map(|value| value.to_string()),
        before: after.map(|after| moment(after.created_at)),
        before_id: after.map(|after| after.flow_id.to_string()),
        limit: args.limit as u64,
    };
    let mut fields = ask(server, list.call()).await?;
    let more = fields.maybe_text()?.is_some();
    let last = fields.maybe_read()?.map(TimestampMs).zip(fields.maybe_read()?);
    let last = last.map(|(created_at, flow_id)| FlowCursor { created_at, flow_id });
    let flows = fields.rows(|row| Ok((row.read()?, FlowFields::read(row)?)))?;
    Ok(FlowListPage { flows, more: last.filter(|_| more) })
}

impl FlowFields {
    fn read(fields: &mut Fields) -> Result<Self, ScriptError> {
        let mut hash = || Hash::parse(fields.list()?);
        Ok(Self { core: hash()?, summary: hash()?, tags: hash()? })
    }
}
