//! The row of a flow, and of a change to its graph that is remembered under a key. One function derives every column of a
//! flow from its record, so that none can say anything else.

use ff_core::flow::{Flow, FlowKeyEntry};
use ff_core::types::{FlowId, IdempotencyKey};

use crate::error::SqlError;
use crate::record;
use crate::schema::FLOW;
use crate::session::{Key, Put};
use crate::value::{Row, Value};

/// The key of a flow's row.
pub(crate) fn key_of_flow(id: &FlowId, partition: u16) -> Key {
    vec![Value::Uuid(*id.as_uuid()), partition.into()]
}

/// The row that makes `after` of `before`.
pub(crate) fn flow_put(before: Option<&Flow>, after: &Flow) -> Result<Put, SqlError> {
    // Without its record, a row differs from any other in its record at least.
    let before = before.map(|before| row(before, Value::Null));
    Ok(Put::over(before, row(after, record::written(after)?)))
}

/// Every column, the record as it is given.
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
        flow.tour.map(|tour| tour.errand.as_str()).into(),
        flow.next_due().into(),
        record,
    ]);
    values
}

/// What of a stored row does not follow from its record.
pub(crate) fn flow_strays(stored: &Row, flow: &Flow) -> Vec<String> {
    FLOW.strays(stored, |record| row(flow, record))
}

/// The key of the row of a change that is remembered under a key.
pub(crate) fn key_of_flow_key(flow: &FlowId, key: &IdempotencyKey) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), key.as_str().into()]
}

/// The row of a change that is remembered under a key.
pub(crate) fn flow_key_of(flow: &FlowId, entry: &FlowKeyEntry) -> Result<Put, SqlError> {
    let mut values = key_of_flow_key(flow, &entry.key);
    values.push(entry.until.into());
    values.push(record::written(&entry.answer)?);
    Ok(Put::whole(values))
}

/// What is remembered under a key, from the columns `until` and `answer`, which begin at a place in a row.
pub(crate) fn read_flow_key(key: IdempotencyKey, row: &Row, from: usize) -> Result<FlowKeyEntry, SqlError> {
    Ok(FlowKeyEntry { key, until: row.moment(from)?, answer: record::read(row.text(from + 1)?)? })
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CreateFlowArgs, FlowHeader};
    use ff_core::dice::{Dice, SeededDice};
    use ff_core::model::Model;
    use ff_core::operation::{Ask, Conditions};
    use ff_core::partition::PartitionConfig;
    use ff_core::types::{Kind, TimestampMs};

    use super::*;

    fn flow() -> Flow {
        let at = Conditions {
            partitions: PartitionConfig::default(),
            nonce: SeededDice::new(1).nonce(),
            now: TimestampMs(5),
        };
        let mut model = Model::default();
        let header = FlowHeader::new(Kind::parse("etl").unwrap());
        model.execute(&CreateFlowArgs { header }.into_operation(), &at).unwrap();
        model.flows().next().unwrap().clone()
    }

    #[test]
    fn there_is_a_value_for_every_column() {
        assert_eq!(flow_put(None, &flow()).unwrap().row.values().len(), FLOW.columns.len());
    }

    #[test]
    fn only_what_differs_is_written_over_and_told_by_the_doctor() {
        let before = flow();
        let after = Flow { started_at: Some(TimestampMs(7)), ..before.clone() };
        let put = flow_put(Some(&before), &after).unwrap();
        let names: Vec<_> = FLOW.chosen(put.changed.unwrap()).map(|(_, column)| column.name).collect();
        assert_eq!(names, ["state", "started_at", "record"]);
        assert_eq!(flow_strays(&put.row, &after), Vec::<String>::new());
        assert_eq!(flow_strays(&put.row, &before).len(), 2);
    }
}
