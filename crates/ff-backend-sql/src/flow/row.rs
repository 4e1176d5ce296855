//! The rows of a flow and of its edges, groups, events and remembered changes. One function derives every column of a flow from
//! its record, so no column can contradict it.

use ff_core::flow::{Edge, Flow, FlowEvent, FlowKeyEntry, Group, Join};
use ff_core::limits;
use ff_core::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey};
use serde::{Deserialize, Serialize};

use crate::error::{SqlError, unreadable};
use crate::session::{Key, Put, Session, delete_all, key_of};
use crate::table::record;
use crate::table::schema::{FLOW, FLOW_EVENT};
use crate::table::value::{Row, Value};

/// Returns the key of a flow's row.
pub(crate) fn key_of_flow(id: &FlowId, partition: u16) -> Key {
    vec![Value::Uuid(*id.as_uuid()), partition.into()]
}

/// Returns the row that replaces `before` with `after`.
pub(crate) fn flow_put(before: Option<&Flow>, after: &Flow) -> Result<Put, SqlError> {
    // This row has no record, so it differs from the new one in at least that column.
    let before = before.map(|before| row(before, Value::Null));
    Ok(Put::over(before, row(after, record::written(after)?)))
}

/// Returns every column, with `record` as the record column.
fn row(flow: &Flow, record: Value) -> Vec<Value> {
    let mut values = key_of_flow(&flow.id, flow.partition);
    values.extend([
        flow.namespace.as_str().into(),
        flow.kind.as_str().into(),
        flow.state().as_str().into(),
        Value::number(flow.nodes),
        Value::number(flow.edges),
        Value::number(flow.graph_revision),
        flow.created_at.into(),
        flow.started_at.into(),
        flow.ended_at.into(),
        flow.staging.map(|staging| staging.until).into(),
        flow.member_sweep.map(|member_sweep| member_sweep.action.as_str()).into(),
        flow.next_due().into(),
        record,
    ]);
    values
}

/// Returns the mismatches between a stored row and its record.
pub(crate) fn flow_strays(stored: &Row, flow: &Flow) -> Vec<String> {
    FLOW.strays(stored, |record| row(flow, record))
}

/// Returns the key of the row of a remembered change.
pub(crate) fn key_of_flow_key(flow: &FlowId, key: &IdempotencyKey) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), key.as_str().into()]
}

/// Returns the row of a change that is remembered under an idempotency key.
pub(crate) fn flow_key_of(flow: &FlowId, entry: &FlowKeyEntry) -> Result<Put, SqlError> {
    let values = [entry.until.into(), record::written(&entry.answer)?];
    Ok(Put::under(key_of_flow_key(flow, &entry.key), values))
}

/// Reads the entry of an idempotency key from the columns `until` and `answer`, beginning at `from`.
pub(crate) fn read_flow_key(key: IdempotencyKey, row: &Row, from: usize) -> Result<FlowKeyEntry, SqlError> {
    Ok(FlowKeyEntry { key, until: row.moment(from)?, answer: record::read(row.text(from + 1)?)? })
}

/// Returns the key of an edge's row.
pub(crate) fn key_of_edge(flow: &FlowId, edge: &EdgeId) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), Value::Uuid(*edge.as_uuid())]
}

/// Returns the row that replaces `before` with `after`.
pub(crate) fn edge_put(before: Option<&Edge>, after: &Edge) -> Result<Put, SqlError> {
    Ok(Put::over(before.map(edge_row).transpose()?, edge_row(after)?))
}

fn edge_row(edge: &Edge) -> Result<Vec<Value>, SqlError> {
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

/// Reads an edge from the first columns of a row: all but its flow, which is on this partition.
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

/// Returns the row of a flow's event.
pub(crate) fn flow_event_of(flow: &FlowId, event: &FlowEvent) -> Result<Put, SqlError> {
    Put::record(key_of_event(flow, event.seq), event)
}

/// Deletes events beyond the limit. Events are numbered without gaps, so each new event pushes out one whose number is known.
pub(crate) async fn trim_events(session: &mut dyn Session, events: &[(FlowId, FlowEvent)]) -> Result<(), SqlError> {
    let surplus = |(flow, event): &(FlowId, FlowEvent)| {
        Some(key_of_event(flow, event.seq.checked_sub(limits::FLOW_EVENTS as u64)?))
    };
    let keys: Vec<_> = events.iter().filter_map(surplus).collect();
    delete_all(session, &FLOW_EVENT, keys).await.map(drop)
}

fn key_of_event(flow: &FlowId, seq: u64) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), Value::number(seq)]
}

/// The column `joined_by`: the part of a group that its edges define and their states do not change.
#[derive(Serialize, Deserialize)]
struct JoinColumn {
    #[serde(flatten)]
    join: Join,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    passes_payload: bool,
}

/// Returns the row that replaces `before` with `after`.
pub(crate) fn group_put(before: Option<&Group>, after: &Group) -> Result<Put, SqlError> {
    Ok(Put::over(before.map(group_row).transpose()?, group_row(after)?))
}

fn group_row(group: &Group) -> Result<Vec<Value>, SqlError> {
    let mut values = key_of(&group.downstream_execution_id);
    values.extend([
        Value::Uuid(*group.flow_id.as_uuid()),
        record::written(&JoinColumn { join: group.join, passes_payload: group.passes_payload })?,
        Value::number(group.n),
        Value::number(group.succeeded),
        Value::number(group.failed),
        Value::number(group.skipped),
        group.state.as_str().into(),
        group.fired_at.into(),
        Value::number(group.round),
    ]);
    Ok(values)
}

/// Reads the group of an execution from the columns beginning at `from`, its flow first.
pub(crate) fn read_group(downstream: ExecutionId, row: &Row, from: usize) -> Result<Group, SqlError> {
    let JoinColumn { join, passes_payload } = record::read(row.text(from + 1)?)?;
    Ok(Group {
        flow_id: FlowId::from_uuid(row.uuid(from)?),
        downstream_execution_id: downstream,
        join,
        n: row.count(from + 2)?,
        succeeded: row.count(from + 3)?,
        failed: row.count(from + 4)?,
        skipped: row.count(from + 5)?,
        state: row.text(from + 6)?.parse().map_err(unreadable("the state of a group"))?,
        fired_at: if row.is_null(from + 7) { None } else { Some(row.moment(from + 7)?) },
        round: row.count(from + 8)?,
        passes_payload,
    })
}

/// Reads a group from the columns beginning at `from`; none if they are empty.
pub(crate) fn read_optional_group(downstream: ExecutionId, row: &Row, from: usize) -> Result<Option<Group>, SqlError> {
    if row.is_null(from) { Ok(None) } else { read_group(downstream, row, from).map(Some) }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CreateFlowArgs, FlowHeader};
    use ff_core::model::Model;
    use ff_core::operation::Ask;
    use ff_core::types::{Kind, TimestampMs};

    use super::*;
    use crate::session::Over;
    use crate::test_conditions::at;

    fn flow() -> Flow {
        let mut model = Model::default();
        let header = FlowHeader::new(Kind::parse("etl").unwrap());
        model.execute(&CreateFlowArgs { header }.into_operation(), &at(5)).unwrap();
        model.flows().next().unwrap().clone()
    }

    #[test]
    fn there_is_a_value_for_every_column() {
        assert_eq!(flow_put(None, &flow()).unwrap().row.values().len(), FLOW.columns.len());
    }

    #[test]
    fn only_changed_columns_are_overwritten_and_reported_by_the_doctor() {
        let before = flow();
        let after = Flow { started_at: Some(TimestampMs(7)), ..before.clone() };
        let put = flow_put(Some(&before), &after).unwrap();
        let Over::Known(changed) = put.over else { panic!("{put:?}") };
        let names: Vec<_> = FLOW.chosen(changed).map(|(_, column)| column.name).collect();
        assert_eq!(names, ["state", "started_at", "record"]);
        assert_eq!(flow_strays(&put.row, &after), Vec::<String>::new());
        assert_eq!(flow_strays(&put.row, &before).len(), 2);
    }
}
