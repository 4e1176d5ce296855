//! Words of a vocabulary, read so that something else in their place is an error about their field.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// Reads a word, or nothing.
pub(crate) fn word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
}
