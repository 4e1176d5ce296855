//! Records as tables store them: JSON text.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::value::{Row, Value};
use crate::error::SqlError;

/// Initial capacity of a record's text. Most records fit.
const USUAL_BYTES: usize = 1_024;

/// Returns a record as a column value.
pub(crate) fn written<T: Serialize>(record: &T) -> Result<Value, SqlError> {
    text(record).map(Value::Text)
}

/// Returns a record as text.
pub(crate) fn text<T: Serialize>(record: &T) -> Result<String, SqlError> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, record).map_err(unwritable)?;
    String::from_utf8(text).map_err(unwritable)
}

/// Returns the error of a record that cannot be written.
pub(crate) fn unwritable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unreadable(format!("a record cannot be written: {error}"))
}

/// Reads a record from its text.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, SqlError> {
    serde_json::from_str(text).map_err(unreadable)
}

/// Returns the error of a record that cannot be read.
pub(crate) fn unreadable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unreadable(format!("a record cannot be read: {error}"))
}

/// Reads a record for a batch: an unreadable one fails only the operations that need it.
pub(crate) fn read_record<T: DeserializeOwned>(row: &Row, at: usize) -> Result<T, String> {
    row.text(at).and_then(read).map_err(|error| error.to_string())
}
