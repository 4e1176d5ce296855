//! The rows of waitpoints, and of suspensions remembered under a key.

use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};

use crate::error::SqlError;
use crate::record;
use crate::session::{Key, Put, key_of};
use crate::value::{Row, Value};

/// The key of a waitpoint's row.
pub(crate) fn key_of_waitpoint(id: &ExecutionId, waitpoint: &WaitpointId) -> Key {
    let mut key = key_of(id);
    key.push(Value::Uuid(*waitpoint.as_uuid()));
    key
}

/// The row of a waitpoint.
pub(crate) fn waitpoint_of(waitpoint: &Waitpoint) -> Result<Put, SqlError> {
    let mut values = key_of_waitpoint(&waitpoint.execution_id, &waitpoint.id);
    values.push(record::written(waitpoint)?);
    Ok(Put::whole(values))
}

/// The row of a suspension that is remembered under a key.
pub(crate) fn suspend_key_of(entry: &SuspendKeyEntry) -> Result<Put, SqlError> {
    let mut values = key_of(&entry.execution_id);
    values.push(entry.key.as_str().into());
    values.push(entry.until.into());
    values.push(record::written(&entry.answer)?);
    Ok(Put::whole(values))
}

/// What is remembered under a key, from the columns `until` and `answer`, which begin at a place in a row.
pub(crate) fn read_suspend_key(
    execution_id: ExecutionId,
    key: IdempotencyKey,
    row: &Row,
    from: usize,
) -> Result<SuspendKeyEntry, SqlError> {
    let (until, answer) = (row.moment(from)?, record::read(row.text(from + 1)?)?);
    Ok(SuspendKeyEntry { execution_id, key, until, answer })
}
