//! The row of an execution. One function derives every column from the record, so that none can say anything else.

use ff_core::contracts::Cursor;
use ff_core::due::Due;
use ff_core::execution::{Execution, Phase};
use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId, LaneId, Namespace, TagKey, TagValue};

use crate::error::{SqlError, unreadable};
use crate::record;
use crate::schema::EXECUTION;
use crate::session::{Key, Put, key_of};
use crate::value::{Row, Value};

/// What the column of states says of an execution that is staged. No listing asks for it.
pub(crate) const STAGED: &str = "staged";

/// The row that makes `after` of `before`.
pub(crate) fn put(before: Option<&Execution>, after: &Execution) -> Result<Put, SqlError> {
    // Without its record, a row differs from any other in its record at least.
    let before = before.map(|before| row(before, Value::Null));
    Ok(Put::over(before, row(after, record::written(after)?)))
}

/// Every column, the record as it is given. A moment is kept while it is waited for, as the indexes are.
fn row(execution: &Execution, record: Value) -> Vec<Value> {
    let due = |due| Value::from(execution.due_at(due));
    let lease = match &execution.phase {
        Phase::Running { lease } => Some(lease),
        _ => None,
    };
    let finished_at = match &execution.phase {
        Phase::Finished { at, .. } => Some(*at),
        _ => None,
    };
    // What runs and what is suspended can both time out, and nothing is both.
    let timeout_at = execution.due_at(Due::AttemptTimeout).or(execution.due_at(Due::SuspensionTimeout));
    let membership = execution.membership.as_ref();
    vec![
        Value::Uuid(execution.id.uuid()),
        execution.id.partition().into(),
        execution.namespace.as_str().into(),
        execution.lane_key().as_str().into(),
        execution.kind.as_str().into(),
        if execution.is_staged() { STAGED } else { execution.public_state().as_str() }.into(),
        execution.priority.get().into(),
        execution.created_at.into(),
        execution.started_at.into(),
        execution.changed_at.into(),
        finished_at.into(),
        due(Due::Delayed),
        lease.map(|lease| lease.holder.worker_instance_id.as_str()).into(),
        lease.map(|lease| lease.acquired_at).into(),
        due(Due::LeaseExpiry),
        timeout_at.into(),
        due(Due::Deadline),
        Value::Int((execution.phase == Phase::Waiting).into()),
        execution.next_due().map(|(at, _)| at).into(),
        record,
        membership.map_or(Value::Null, |membership| Value::Uuid(*membership.flow_id.as_uuid())),
        membership.map_or(Value::Null, |membership| Value::number(membership.position)),
    ]
}

/// What of a stored row does not follow from its record.
pub(crate) fn strays(stored: &Row, execution: &Execution) -> Vec<String> {
    EXECUTION.strays(stored, |record| row(execution, record))
}

/// The lane a key names.
pub(crate) fn lane_of(key: &str) -> Result<LaneId, SqlError> {
    let (namespace, name) = match key.split_once('/') {
        Some((namespace, name)) => (Namespace::parse(namespace), name),
        None => (Ok(Namespace::default_name()), key),
    };
    match (namespace, LaneId::parse(name)) {
        (Ok(namespace), Ok(lane)) => Ok(lane.within(&namespace)),
        (Err(error), _) | (_, Err(error)) => Err(unreadable("a lane")(error)),
    }
}

/// The rows of an execution's labels, which are all key. What is staged is found by none.
pub(crate) fn labels_of(execution: &Execution) -> Vec<Key> {
    if execution.is_staged() {
        return Vec::new();
    }
    let label =
        |(key, value): (&TagKey, &TagValue)| key_of_label(&execution.namespace, (key, value), Cursor::of(execution));
    execution.tags.iter().map(label).collect()
}

/// The row that says that what is at a place in every listing has a label.
pub(crate) fn key_of_label(namespace: &Namespace, (key, value): (&TagKey, &TagValue), place: Cursor) -> Key {
    vec![
        namespace.as_str().into(),
        key.as_str().into(),
        value.as_str().into(),
        place.created_at.into(),
        place.execution_id.partition().into(),
        Value::Uuid(place.execution_id.uuid()),
    ]
}

/// The labels that executions come by and those they lose, each execution given as it was and as it is to be.
pub(crate) fn labels_put_and_deleted<'e>(
    rewritten: impl Iterator<Item = (Option<&'e Execution>, &'e Execution)>,
) -> (Vec<Put>, Vec<Key>) {
    let (mut put, mut deleted) = (Vec::new(), Vec::new());
    for (before, after) in rewritten {
        let was_plain = before.is_none_or(|before| before.tags.is_empty());
        if was_plain && after.tags.is_empty() {
            continue;
        }
        let (before, after) = (before.map(labels_of).unwrap_or_default(), labels_of(after));
        put.extend(after.iter().filter(|label| !before.contains(label)).cloned().map(Put::whole));
        deleted.extend(before.into_iter().filter(|label| !after.contains(label)));
    }
    (put, deleted)
}

/// The row of a payload or a result.
pub(crate) fn body_of(id: &ExecutionId, payload: &Payload) -> Put {
    let mut values = key_of(id);
    values.push(payload.content_type.as_str().into());
    values.push(Value::Bytes(payload.bytes.clone()));
    Put::whole(values)
}

/// A payload or a result, from its whole row.
pub(crate) fn read_body(row: &Row) -> Result<Payload, SqlError> {
    read_body_at(row, 2)
}

/// A payload or a result, from where a row has it.
pub(crate) fn read_body_at(row: &Row, at: usize) -> Result<Payload, SqlError> {
    let content_type = ContentType::parse(row.text(at)?).map_err(unreadable("a content type"))?;
    Ok(Payload::new(content_type, row.bytes(at + 1)?))
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CancelArgs, SubmitArgs};
    use ff_core::entropy::{Entropy, SeededEntropy};
    use ff_core::model::Model;
    use ff_core::operation::{Ask, Conditions};
    use ff_core::partition::PartitionConfig;
    use ff_core::payload::Payload;
    use ff_core::types::{Kind, TimestampMs};

    use super::*;

    fn before_and_after_a_cancel() -> (Execution, Execution) {
        let at = Conditions {
            partitions: PartitionConfig::default(),
            nonce: SeededEntropy::new(1).nonce(),
            now: TimestampMs(5),
        };
        let mut model = Model::default();
        let work = SubmitArgs {
            namespace: Namespace::parse("acme").unwrap(),
            ..SubmitArgs::new(Kind::parse("k").unwrap(), Payload::default())
        };
        model.execute(&work.into_operation(), &at).unwrap();
        let before = model.executions().next().unwrap().clone();
        let cancel = CancelArgs { execution_id: before.id, reason: None, requested_by: None };
        model.execute(&cancel.into_operation(), &at).unwrap();
        (before, model.executions().next().unwrap().clone())
    }

    #[test]
    fn there_is_a_value_for_every_column() {
        let (before, _) = before_and_after_a_cancel();
        assert_eq!(put(None, &before).unwrap().row.values().len(), EXECUTION.columns.len());
    }

    #[test]
    fn only_what_differs_is_written_over() {
        let (before, after) = before_and_after_a_cancel();
        let changed = put(Some(&before), &after).unwrap().changed.unwrap();
        let names: Vec<_> = EXECUTION.chosen(changed).map(|(_, column)| column.name).collect();
        assert_eq!(names, ["state", "finished_at", "eligible", "due_at", "record"]);
    }

    #[test]
    fn a_column_that_does_not_follow_from_the_record_is_found() {
        let (before, after) = before_and_after_a_cancel();
        let row = put(None, &before).unwrap().row;
        assert_eq!(strays(&row, &before), Vec::<String>::new());
        let found = strays(&row, &after);
        assert_eq!(found[0], r#"state should be "cancelled", is "waiting""#);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn a_lane_reads_back_from_its_key() {
        let lane = LaneId::parse("mail").unwrap();
        for namespace in [Namespace::default_name(), Namespace::parse("acme").unwrap()] {
            let key = lane.within(&namespace);
            assert_eq!(lane_of(key.as_str()), Ok(key));
        }
        assert!(lane_of("a/b/c").is_err());
    }
}
