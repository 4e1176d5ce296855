//! A hash: names and values, of which only those exist that are set.

use std::collections::HashMap;
use std::str::FromStr;

use bytes::Bytes;

use crate::{ScriptError, Value};

/// The fields of a hash.
#[derive(Default)]
pub(crate) struct Hash(HashMap<Bytes, Bytes>);

impl Hash {
    /// Reads a list of names and values, alternating.
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

    /// A field as what it stands for, if it is set.
    pub(crate) fn maybe<T: FromStr>(&self, name: &str) -> Result<Option<T>, ScriptError> {
        let read = self.text(name)?.map(str::parse);
        read.transpose().map_err(|_| ScriptError::parse(format!("the field {name} cannot be read")))
    }

    /// A field that is always set.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Result<T, ScriptError> {
        self.maybe(name)?.ok_or_else(|| ScriptError::parse(format!("the field {name} is missing")))
    }

    /// A count that is zero when it is not set.
    pub(crate) fn count<T: FromStr + Default>(&self, name: &str) -> Result<T, ScriptError> {
        Ok(self.maybe(name)?.unwrap_or_default())
    }

    /// All fields, as what names and values stand for.
    pub(crate) fn all<K: FromStr, V: FromStr>(&self) -> Result<Vec<(K, V)>, ScriptError> {
        let read = |(name, value): (&Bytes, &Bytes)| {
            let (name, value) = (str::from_utf8(name).ok()?, str::from_utf8(value).ok()?);
            Some((name.parse().ok()?, value.parse().ok()?))
        };
        let all: Option<Vec<_>> = self.0.iter().map(read).collect();
        all.ok_or_else(|| ScriptError::parse("a label cannot be read"))
    }
}
