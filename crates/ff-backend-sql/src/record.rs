//! Records as tables hold them: JSON text.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SqlError;
use crate::value::{Row, Value};

/// Most records fit in this.
const USUAL_BYTES: usize = 1_024;

/// A record as it is stored.
pub(crate) fn written<T: Serialize>(record: &T) -> Result<Value, SqlError> {
    text(record).map(Value::Text)
}

/// A record as text.
pub(crate) fn text<T: Serialize>(record: &T) -> Result<String, SqlError> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, record).map_err(unwritable)?;
    String::from_utf8(text).map_err(unwritable)
}

/// Why a record is not written.
pub(crate) fn unwritable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unreadable(format!("a record cannot be written: {error}"))
}

/// A record as it was.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, SqlError> {
    serde_json::from_str(text).map_err(unreadable)
}

/// Why a record is not what it was.
pub(crate) fn unreadable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unreadable(format!("a record cannot be read: {error}"))
}

/// A record from a row. One that cannot be read fails only the operations that need it.
pub(crate) fn read_record<T: DeserializeOwned>(row: &Row, at: usize) -> Result<T, String> {
    row.text(at).and_then(read).map_err(|error| error.to_string())
}
