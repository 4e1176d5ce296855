//! The rows of signals, and of signals remembered under a key.

use ff_core::contracts::ReceivedSignal;
use ff_core::payload::Payload;
use ff_core::signal::SignalKeyEntry;
use ff_core::types::{ContentType, ExecutionId, IdempotencyKey, SignalId, WaitpointId};

use crate::desk::NewSignal;
use crate::error::{SqlError, unreadable};
use crate::record;
use crate::session::{Key, Put, key_of};
use crate::value::{Row, Value};

/// The key of a signal's row.
pub(crate) fn key_of_signal(id: &ExecutionId, signal: &SignalId) -> Key {
    let mut key = key_of(id);
    key.push(Value::Uuid(*signal.as_uuid()));
    key
}

/// The row of a signal, with what it carried.
pub(crate) fn signal_of(new: &NewSignal) -> Result<Put, SqlError> {
    let (signal, payload) = (&new.recorded.signal, new.recorded.payload.as_ref());
    let mut values = key_of_signal(&signal.execution_id, &signal.id);
    values.push(Value::Int(new.nth.into()));
    values.push(record::written(signal)?);
    values.push(payload.map(|payload| payload.content_type.as_str()).into());
    values.push(payload.map_or(Value::Null, |payload| Value::Bytes(payload.bytes.clone())));
    Ok(Put::whole(values))
}

/// A signal from the first columns of a row: its record and, where it was asked for, what it carried.
pub(crate) fn read_signal(row: &Row) -> Result<ReceivedSignal, SqlError> {
    let signal = record::read(row.text(0)?)?;
    let payload = match row.values().get(1) {
        None | Some(Value::Null) => None,
        Some(_) => {
            let content_type = ContentType::parse(row.text(1)?).map_err(unreadable("a content type"))?;
            Some(Payload::new(content_type, row.bytes(2)?))
        }
    };
    Ok(ReceivedSignal { signal, payload })
}

/// The key of the row of a signal that is remembered under a key.
pub(crate) fn key_of_signal_key(id: &ExecutionId, waitpoint: &WaitpointId, key: &IdempotencyKey) -> Key {
    let mut values = key_of(id);
    values.push(Value::Uuid(*waitpoint.as_uuid()));
    values.push(key.as_str().into());
    values
}

/// The row of a signal that is remembered under a key.
pub(crate) fn signal_key_of(entry: &SignalKeyEntry) -> Put {
    let mut values = key_of_signal_key(&entry.execution_id, &entry.waitpoint_id, &entry.key);
    values.push(Value::Uuid(*entry.signal_id.as_uuid()));
    values.push(entry.until.into());
    Put::whole(values)
}

/// What is remembered under a key, from the columns `signal_id` and `until`, which begin at a place in a row.
pub(crate) fn read_signal_key(
    execution_id: ExecutionId,
    waitpoint_id: WaitpointId,
    key: IdempotencyKey,
    row: &Row,
    from: usize,
) -> Result<SignalKeyEntry, SqlError> {
    let (signal_id, until) = (SignalId::from_uuid(row.uuid(from)?), row.moment(from + 1)?);
    Ok(SignalKeyEntry { execution_id, waitpoint_id, key, signal_id, until })
}
