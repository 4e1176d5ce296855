//! The fields of a hash. A field that is not set is absent.

use std::collections::HashMap;
use std::str::FromStr;

use bytes::Bytes;

use crate::{ScriptError, Value};

/// The names and values of a hash.
#[derive(Default)]
pub(crate) struct Hash(HashMap<Bytes, Bytes>);

impl Hash {
    /// Parses a list of alternating names and values.
    pub(crate) fn parse(values: Vec<Value>) -> Result<Self, ScriptError> {
        let mut fields = HashMap::with_capacity(values.len() / 2);
        let mut values = values.into_iter();
        while let (Some(name), Some(value)) = (values.next(), values.next()) {
            let (Value::Bytes(name), Value::Bytes(value)) = (name, value) else {
                return Err(ScriptError::parse("a hash has fields that are not bytes"));
            };
            fields.insert(name, value);
        }
        Ok(Self(fields))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&Bytes> {
        self.0.get(name.as_bytes())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ScriptError> {
        let text = self.bytes(name).map(|bytes| str::from_utf8(bytes));
        text.transpose().map_err(|_| ScriptError::parse(format!("the field {name} is not text")))
    }

    pub(crate) fn owned(&self, name: &str) -> Result<Option<String>, ScriptError> {
        Ok(self.text(name)?.map(str::to_owned))
    }

    /// Returns a field in its type, if it is set.
    pub(crate) fn maybe<T: FromStr>(&self, name: &str) -> Result<Option<T>, ScriptError> {
        let read = self.text(name)?.map(str::parse);
        read.transpose().map_err(|_| ScriptError::parse(format!("the field {name} cannot be read")))
    }

    /// Returns a field that must be set.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Result<T, ScriptError> {
        self.maybe(name)?.ok_or_else(|| ScriptError::parse(format!("the field {name} is missing")))
    }

    /// Returns a count, zero if it is not set.
    pub(crate) fn count<T: FromStr + Default>(&self, name: &str) -> Result<T, ScriptError> {
        Ok(self.maybe(name)?.unwrap_or_default())
    }

    /// Returns all fields, names and values in their types.
    pub(crate) fn all<K: FromStr, V: FromStr>(&self) -> Result<Vec<(K, V)>, ScriptError> {
        let read = |(name, value): (&Bytes, &Bytes)| {
            let (name, value) = (str::from_utf8(name).ok()?, str::from_utf8(value).ok()?);
            Some((name.parse().ok()?, value.parse().ok()?))
        };
        let all: Option<Vec<_>> = self.0.iter().map(read).collect();
        all.ok_or_else(|| ScriptError::parse("a label cannot be read"))
    }
}
