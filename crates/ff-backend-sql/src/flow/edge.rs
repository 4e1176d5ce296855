//! The row of an edge. It has no record: its columns say everything.

use ff_core::flow::Edge;
use ff_core::types::{EdgeId, FlowId};

use crate::error::{SqlError, unreadable};
use crate::record;
use crate::session::{Key, Put};
use crate::value::{Row, Value};

/// The key of an edge's row.
pub(crate) fn key_of_edge(flow: &FlowId, edge: &EdgeId) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), Value::Uuid(*edge.as_uuid())]
}

/// The row that makes `after` of `before`.
pub(crate) fn edge_put(before: Option<&Edge>, after: &Edge) -> Result<Put, SqlError> {
    Ok(Put::over(before.map(row).transpose()?, row(after)?))
}

fn row(edge: &Edge) -> Result<Vec<Value>, SqlError> {
    let mut values = key_of_edge(&edge.flow_id, &edge.id);
    values.extend([
        Value::Uuid(edge.upstream_execution_id.uuid()),
        Value::Uuid(edge.downstream_execution_id.uuid()),
        edge.passes.as_ref().map_or(Ok(Value::Null), record::written)?,
        Value::number(edge.round),
        edge.state.as_str().into(),
        edge.passed_bytes.map_or(Value::Null, Value::number),
    ]);
    Ok(values)
}

/// An edge from the first columns of a row: all but its flow, which lives on this partition.
pub(crate) fn read_edge(flow_id: FlowId, partition: u16, row: &Row) -> Result<Edge, SqlError> {
    Ok(Edge {
        id: EdgeId::from_uuid(row.uuid(0)?),
        flow_id,
        upstream_execution_id: row.id(1, partition)?,
        downstream_execution_id: row.id(2, partition)?,
        passes: if row.is_null(3) { None } else { Some(record::read(row.text(3)?)?) },
        round: row.count(4)?,
        state: row.text(5)?.parse().map_err(unreadable("the state of an edge"))?,
        passed_bytes: if row.is_null(6) { None } else { Some(row.count(6)?) },
    })
}
