//! The row of an execution. One function derives every column from the record, so no column can contradict it.

use ff_core::execution::{Attempt, Execution};
use ff_core::payload::Payload;
use ff_core::rule::change::Write;
use ff_core::rule::due::Due;
use ff_core::types::{LaneId, Namespace};

use super::body::{Body, body_values};
use crate::batch_state::StoredRecord;
use crate::error::{SqlError, unreadable};
use crate::session::{Over, Put};
use crate::table::Columns;
use crate::table::record;
use crate::table::schema::EXECUTION;
use crate::table::value::{Row, Value};

/// The state column of a staged execution. No listing asks for it.
pub(crate) const STAGED: &str = "staged";

/// Returns the row that replaces `before` with `after`, with the writes of its result and its last attempt. Without `before` the
/// row is new.
pub(crate) fn put(
    before: Option<&Execution>,
    after: &Execution,
    result: Write<Payload>,
    last_attempt: Write<Attempt>,
) -> Result<Put, SqlError> {
    let (mut beside, mut written) = (vec![Value::Null; 3], Columns::default());
    if !matches!(result, Write::Keep | Write::ResultOf(_)) {
        written = written.and(Body::Result.columns());
    }
    if let Write::Put(result) = result {
        beside[..2].clone_from_slice(&body_values(&result));
    }
    if !matches!(last_attempt, Write::Keep | Write::ResultOf(_)) {
        written = written.and(EXECUTION.named(&["last_attempt"]));
    }
    if let Write::Put(attempt) = last_attempt {
        beside[2] = Value::Text(after.last_attempt_to_json(&attempt).map_err(record::unwritable)?);
    }
    let values = [row(after, Value::Text(after.to_json().map_err(record::unwritable)?)), beside].concat();
    let Some(before) = before else { return Ok(Put::new(values)) };
    // This row has no record, so it differs from the new one in at least that column.
    let before = [row(before, Value::Null), vec![Value::Null; 3]].concat();
    let mut put = Put::over(Some(before), values);
    if let Over::Known(changed) = &mut put.over {
        *changed = changed.and(written);
    }
    Ok(put)
}

/// Reads an execution from a row with its record at `at` and its definition in the next column.
pub(crate) fn read_execution(row: &Row, at: usize) -> Result<Execution, SqlError> {
    if row.is_null(at + 1) {
        return Err(record::unreadable("its definition is gone"));
    }
    Execution::from_json(row.text(at)?, row.text(at + 1)?).map_err(record::unreadable)
}

/// Reads an execution for a batch: an unreadable one fails only the operations that need it.
pub(crate) fn stored_execution(row: &Row, at: usize) -> StoredRecord<Execution> {
    read_execution(row, at).map(Some).map_err(|error| error.to_string())
}

/// Returns every column that follows from the record, with `record` as the record column.
fn row(execution: &Execution, record: Value) -> Vec<Value> {
    let membership = execution.membership.as_ref();
    vec![
        Value::Uuid(execution.id.uuid()),
        execution.id.partition().into(),
        execution.namespace.as_str().into(),
        execution.lane_key().as_str().into(),
        execution.kind.as_str().into(),
        if execution.is_staged() { STAGED } else { execution.public_state().as_str() }.into(),
        execution.created_at.into(),
        execution.changed_at.into(),
        execution.due_at(Due::Delayed).into(),
        record,
        membership.map_or(Value::Null, |membership| Value::Uuid(*membership.flow_id.as_uuid())),
        membership.map_or(Value::Null, |membership| Value::number(membership.position)),
    ]
}

/// Returns the mismatches between a stored row and its record.
pub(crate) fn strays(stored: &Row, execution: &Execution) -> Vec<String> {
    EXECUTION.strays(stored, |record| row(execution, record))
}

/// Returns the lane of a lane key.
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

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CancelArgs, SubmitArgs};
    use ff_core::model::Model;
    use ff_core::operation::Ask;
    use ff_core::payload::Payload;
    use ff_core::types::Kind;

    use super::*;
    use crate::test_conditions::at;

    fn before_and_after_a_cancel() -> (Execution, Execution) {
        let mut model = Model::default();
        let work = SubmitArgs {
            namespace: Namespace::parse("acme").unwrap(),
            ..SubmitArgs::new(Kind::parse("k").unwrap(), Payload::default())
        };
        model.execute(&work.into_operation(), &at(5)).unwrap();
        let before = model.executions().next().unwrap().clone();
        let cancel = CancelArgs { execution_id: before.id, reason: None, requested_by: None };
        model.execute(&cancel.into_operation(), &at(5)).unwrap();
        (before, model.executions().next().unwrap().clone())
    }

    #[test]
    fn there_is_a_value_for_every_column() {
        let (before, _) = before_and_after_a_cancel();
        assert_eq!(put(None, &before, Write::Keep, Write::Keep).unwrap().row.values().len(), EXECUTION.columns.len());
    }

    #[test]
    fn only_what_differs_is_written_over() {
        let (before, after) = before_and_after_a_cancel();
        let changed = |result| match put(Some(&before), &after, result, Write::Keep).unwrap().over {
            Over::Known(changed) => EXECUTION.chosen(changed).map(|(_, column)| column.name).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(changed(Write::Keep), ["state", "record"]);
        for result in [Write::Remove, Write::Put(Payload::default())] {
            assert_eq!(changed(result), ["state", "record", "result_type", "result"]);
        }
    }

    #[test]
    fn a_column_that_does_not_follow_from_the_record_is_found() {
        let (before, after) = before_and_after_a_cancel();
        let row = put(None, &before, Write::Put(Payload::default()), Write::Keep).unwrap().row;
        assert_eq!(strays(&row, &before), Vec::<String>::new());
        let found = strays(&row, &after);
        assert_eq!(found[0], r#"state should be "cancelled", is "waiting""#);
        assert_eq!(found.len(), 1);
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
