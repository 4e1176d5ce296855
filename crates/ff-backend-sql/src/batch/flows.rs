//! Misses of flows, loaded with one query per kind of record. A list of edges or members is loaded with the records it leads to,
//! so that a walk of the list misses nothing.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::rule::view::Side;
use ff_core::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey};
use uuid::Uuid;

use super::suspensions::{load, load_records};
use crate::batch_state::{BatchState, EdgeRange, IndexPrefix, Members};
use crate::error::SqlError;
use crate::execution::stored_execution;
use crate::flow::queries::{EDGES_IN, EDGES_INTO, EDGES_OUT, MEMBERS_AFTER};
use crate::flow::{
    key_of_edge, key_of_flow, key_of_flow_key, read_edge, read_flow_key, read_group, read_optional_group,
};
use crate::session::{Read, key_of};
use crate::table::schema::{EDGE, EDGE_GROUP, FLOW, FLOW_KEY};
use crate::table::value::{Row, Value};

/// The misses of a batch, each once, and always in the same order.
#[derive(Clone, Default)]
pub(super) struct FlowMisses {
    pub(super) flows: BTreeSet<FlowId>,
    pub(super) edges: BTreeSet<(FlowId, EdgeId)>,
    pub(super) groups: BTreeSet<ExecutionId>,
    pub(super) keys: BTreeSet<(FlowId, IdempotencyKey)>,
    pub(super) ends: ListLengths<EdgeRange>,
    /// Edges into a member, without the executions at their other ends.
    pub(super) bare: ListLengths<EdgeRange>,
    pub(super) members: ListLengths<Members>,
}

/// Lists to load, each with the length of the longest request for it.
#[derive(Clone)]
pub(super) struct ListLengths<K>(BTreeMap<K, usize>);

impl<K: Ord> ListLengths<K> {
    pub(super) fn want(&mut self, list: K, length: usize) {
        self.0.entry(list).and_modify(|longest| *longest = length.max(*longest)).or_insert(length);
    }
}

impl<K> Default for ListLengths<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl FlowMisses {
    /// Loads all misses. An unreadable record fails only the operations that need it.
    pub(super) async fn load(
        self,
        reader: &mut dyn Read,
        state: &mut BatchState,
        partitions: &PartitionConfig,
    ) -> Result<(), SqlError> {
        let home = |flow: &FlowId| flow_partition(flow, partitions).index;
        let records = &mut state.flows;
        let key = |id: &FlowId| key_of_flow(id, home(id));
        load_records(reader, &mut records.flows, self.flows, &FLOW, key).await?;

        let key = |(flow, edge): &(_, _)| key_of_edge(flow, edge);
        let edge = |(flow, _): &(FlowId, _), row: &Row| read_edge(*flow, home(flow), row);
        let columns = &["edge_id", "upstream", "downstream", "passes", "round", "state", "passed_bytes"][..];
        load(reader, &mut records.edges, self.edges, (&EDGE, columns), key, edge).await?;

        let columns =
            &["flow_id", "joined_by", "n", "succeeded", "failed", "skipped", "state", "fired_at", "round"][..];
        let group = |id: &ExecutionId, row: &Row| read_group(*id, row, 0);
        load(reader, &mut records.groups, self.groups, (&EDGE_GROUP, columns), key_of, group).await?;

        let key = |(flow, key): &(_, _)| key_of_flow_key(flow, key);
        let entry = |(_, key): &(_, IdempotencyKey), row: &Row| read_flow_key(key.clone(), row, 0);
        load(reader, &mut records.keys, self.keys, (&FLOW_KEY, &["until", "answer"][..]), key, entry).await?;

        let (out, into): (Vec<_>, Vec<_>) = self.ends.0.into_iter().partition(|(ends, _)| ends.side == Side::Outgoing);
        load_ends(reader, state, out, EDGES_OUT).await?;
        load_ends(reader, state, into, EDGES_IN).await?;
        load_bare(reader, state, self.bare.0.into_iter().collect()).await?;
        load_members(reader, state, self.members.0.into_iter().collect(), home).await
    }
}

/// Loads lists of edges with the executions at their other ends and, for outgoing edges, with the groups of those executions.
async fn load_ends(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(EdgeRange, usize)>,
    sql: &'static str,
) -> Result<(), SqlError> {
    let parameters = |(ends, limit): &(EdgeRange, usize)| {
        let after = ends.after.map_or(Uuid::nil(), |after| *after.as_uuid());
        vec![ends.member.partition().into(), Value::Uuid(ends.member.uuid()), Value::Uuid(after), Value::number(*limit)]
    };
    let found = reader.query(sql, &lists.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((ends, limit), rows) in lists.into_iter().zip(found) {
        let mut edges = Vec::with_capacity(rows.len());
        for row in &rows {
            edges.push(lay_edge(state, &ends, row)?);
            let other = row.id(if ends.side == Side::Outgoing { 2 } else { 1 }, ends.member.partition())?;
            if !state.has(&other) {
                let stored = if row.is_null(7) { Ok(None) } else { stored_execution(row, 7) };
                state.lay(other, stored);
            }
            if ends.side == Side::Outgoing && !state.flows.groups.has(&other) {
                state.flows.groups.lay(other, read_optional_group(other, row, 9).map_err(|error| error.to_string()));
            }
        }
        state.flows.lay_ends(ends, IndexPrefix::new(edges, limit));
    }
    Ok(())
}

/// Loads lists of edges into members, without other records.
async fn load_bare(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(EdgeRange, usize)>,
) -> Result<(), SqlError> {
    let parameters = |(ends, limit): &(EdgeRange, usize)| vec![Value::Uuid(ends.member.uuid()), Value::number(*limit)];
    let found = reader.query(EDGES_INTO, &lists.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((ends, limit), rows) in lists.into_iter().zip(found) {
        let edges = rows.iter().map(|row| lay_edge(state, &ends, row)).collect::<Result<_, _>>()?;
        state.flows.lay_ends(ends, IndexPrefix::new(edges, limit));
    }
    Ok(())
}

/// Loads an edge into the batch state, and returns its id.
fn lay_edge(state: &mut BatchState, ends: &EdgeRange, row: &Row) -> Result<EdgeId, SqlError> {
    let id = EdgeId::from_uuid(row.uuid(0)?);
    if !state.flows.edges.has(&(ends.flow, id)) {
        let edge = read_edge(ends.flow, ends.member.partition(), row);
        state.flows.edges.lay((ends.flow, id), edge.map(Some).map_err(|error| error.to_string()));
    }
    Ok(id)
}

/// Loads lists of members, with their records and their groups.
async fn load_members(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(Members, usize)>,
    home: impl Fn(&FlowId) -> u16,
) -> Result<(), SqlError> {
    let parameters = |(members, limit): &(Members, usize)| {
        let after = members.after.map_or(Uuid::nil(), |after| after.uuid());
        vec![Value::Uuid(*members.flow.as_uuid()), Value::Uuid(after), Value::number(*limit)]
    };
    let found = reader.query(MEMBERS_AFTER, &lists.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((members, limit), rows) in lists.into_iter().zip(found) {
        let mut ids = Vec::with_capacity(rows.len());
        for row in &rows {
            let id = row.id(0, home(&members.flow))?;
            ids.push(id);
            state.lay(id, stored_execution(row, 1));
            state.flows.groups.lay(id, read_optional_group(id, row, 3).map_err(|error| error.to_string()));
        }
        state.flows.lay_members(members, IndexPrefix::new(ids, limit));
    }
    Ok(())
}
