//! Column values, and rows of them.

use std::fmt;

use bytes::Bytes;
use ff_core::types::{ExecutionId, TimestampMs};
use uuid::Uuid;

use crate::error::SqlError;

/// One value of a row. `Debug` shows no text and no bytes, because drivers log values, and a value may be a payload, a token or a secret.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number, or a time in milliseconds.
    Int(i64),
    /// Text.
    Text(String),
    /// A uuid. A store without a type for it stores its sixteen bytes.
    Uuid(Uuid),
    /// Bytes.
    Bytes(Bytes),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{} bytes of text", text.len()),
            Self::Uuid(uuid) => uuid.fmt(f),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl Value {
    /// Returns the value in plain text, for columns that follow from a record and hold only names and numbers.
    pub(crate) fn exposed(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            other => format!("{other:?}"),
        }
    }

    /// Creates a count, at most the largest that a column can hold.
    pub(crate) fn number(count: impl TryInto<i64>) -> Self {
        Self::Int(count.try_into().unwrap_or(i64::MAX))
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Int(number.into())
    }
}

impl From<TimestampMs> for Value {
    fn from(at: TimestampMs) -> Self {
        Self::Int(at.0)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The values of one row, in the order of the selected columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(Vec<Value>);

impl Row {
    /// Creates a row of these values.
    pub fn new(values: Vec<Value>) -> Self {
        Self(values)
    }

    /// Returns every value.
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// Returns every value, owned.
    pub fn into_values(self) -> Vec<Value> {
        self.0
    }

    pub(crate) fn int(&self, at: usize) -> Result<i64, SqlError> {
        match self.0.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(self.unlike(at, "a number")),
        }
    }

    pub(crate) fn is_null(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Value::Null))
    }

    /// Reads a number that is never negative.
    pub(crate) fn count<T: TryFrom<i64>>(&self, at: usize) -> Result<T, SqlError> {
        T::try_from(self.int(at)?).map_err(|_| self.unlike(at, "a count"))
    }

    pub(crate) fn moment(&self, at: usize) -> Result<TimestampMs, SqlError> {
        self.int(at).map(TimestampMs)
    }

    pub(crate) fn text(&self, at: usize) -> Result<&str, SqlError> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.unlike(at, "text")),
        }
    }

    pub(crate) fn bytes(&self, at: usize) -> Result<Bytes, SqlError> {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => Ok(bytes.clone()),
            _ => Err(self.unlike(at, "bytes")),
        }
    }

    pub(crate) fn uuid(&self, at: usize) -> Result<Uuid, SqlError> {
        match self.0.get(at) {
            Some(Value::Uuid(uuid)) => Ok(*uuid),
            Some(Value::Bytes(bytes)) => Uuid::from_slice(bytes).map_err(|_| self.unlike(at, "a uuid")),
            _ => Err(self.unlike(at, "a uuid")),
        }
    }

    pub(crate) fn partition(&self, at: usize) -> Result<u16, SqlError> {
        u16::try_from(self.int(at)?).map_err(|_| self.unlike(at, "a partition"))
    }

    /// Reads the id of an execution on a known partition.
    pub(crate) fn id(&self, at: usize, partition: u16) -> Result<ExecutionId, SqlError> {
        Ok(ExecutionId::new(partition, self.uuid(at)?))
    }

    fn unlike(&self, at: usize, expected: &str) -> SqlError {
        SqlError::Unreadable(format!("expected {expected} in column {at} of a row of {}", self.0.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_read_from_its_type_or_from_its_bytes() {
        let uuid = Uuid::from_u128(7);
        let row = Row::new(vec![Value::Uuid(uuid), Value::Bytes(Bytes::copy_from_slice(uuid.as_bytes()))]);
        assert_eq!(row.uuid(0), row.uuid(1));
    }

    #[test]
    fn no_text_and_no_bytes_are_shown() {
        let uuid = Uuid::from_u128(7);
        let values = [Value::Null, Value::Int(-7), Value::Text("s3cret".into()), Value::Uuid(uuid)];
        let bytes = Value::Bytes(Bytes::from_static(b"s3cret"));
        let shown = format!("{:?}", Row::new(values.into_iter().chain([bytes]).collect()));
        assert_eq!(shown, format!("Row([null, -7, 6 bytes of text, {uuid}, 6 bytes])"));
    }

    #[test]
    fn a_value_of_another_kind_is_unreadable_and_not_guessed() {
        let row = Row::new(vec![Value::Text("7".into())]);
        assert!(matches!(row.int(0), Err(SqlError::Unreadable(_))));
        assert!(matches!(row.text(1), Err(SqlError::Unreadable(_))));
    }
}
