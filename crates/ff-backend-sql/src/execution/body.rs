//! Payloads and results: bytes beside a record, with what kind of bytes they are.

use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId};

use crate::error::{SqlError, unreadable};
use crate::session::{Put, key_of};
use crate::value::{Row, Value};

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
