//! The submission row of an execution: its definition and its payload.

use std::sync::Arc;

use ff_core::execution::Execution;
use ff_core::payload::Payload;

use super::body::{Body, body_values};
use crate::error::SqlError;
use crate::session::{Over, Put, key_of};
use crate::table::Columns;
use crate::table::record;
use crate::table::schema::SUBMISSION;
use crate::table::value::{Row, Value};

/// Returns the submission row of a new execution. Without `is_new`, the row may replace an older one.
pub(crate) fn new_submission(new: &Execution, payload: Option<Payload>, is_new: bool) -> Result<Put, SqlError> {
    let lost = || SqlError::Unreadable(format!("{} has no payload", new.id));
    let values = submission(new, Some(&payload.ok_or_else(lost)?))?;
    Ok(if is_new { Put::new(values) } else { Put::whole(values) })
}

/// Returns the change of an execution's submission row, if there is one.
pub(crate) fn changed_submission(
    before: &Execution,
    after: &Execution,
    payload: Option<Payload>,
) -> Result<Option<Put>, SqlError> {
    let is_same = Arc::ptr_eq(&before.definition, &after.definition) || before.definition == after.definition;
    let mut changed = if is_same { Columns::default() } else { SUBMISSION.named(&["definition"]) };
    if payload.is_some() {
        changed = changed.and(Body::Payload.columns());
    }
    if changed == Columns::default() {
        return Ok(None);
    }
    let row = Row::new(submission(after, payload.as_ref())?);
    Ok(Some(Put { row, over: Over::Known(changed) }))
}

fn submission(execution: &Execution, payload: Option<&Payload>) -> Result<Vec<Value>, SqlError> {
    let mut values = key_of(&execution.id);
    values.push(Value::Text(execution.definition.to_json().map_err(record::unwritable)?));
    values.extend(payload.map_or([Value::Null, Value::Null], body_values));
    Ok(values)
}
