//! The definition of JSON objects, and the reading of requests. Only a JSON object is a request: serde would read a list as the
//! fields in their order.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use ff_core::engine_error::{Code, Refusal};
use ff_core::json;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Reads a request. The refusal names the invalid field and the reason.
pub fn object<T: DeserializeOwned>(text: &[u8]) -> Result<T, Refusal> {
    let read = match text.trim_ascii_start().first() {
        Some(b'{') => json::read(text),
        _ => Err(Refusal::new(Code::InvalidInput).because("must be a JSON object")),
    };
    // A text that is not JSON is reported as such, even if another error was found first.
    read.map_err(|refusal| json::read::<IgnoredAny>(text).err().unwrap_or(refusal))
}

/// A part of a request that must be a JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Strict<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor(PhantomData)).map(Self)
    }
}

struct MapVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MapVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Reads a value that is written as a word or as an object.
pub(crate) struct WordOrObject<T, O> {
    pub(crate) expected: &'static str,
    pub(crate) of_word: fn(&str) -> Result<T, String>,
    pub(crate) of_object: fn(O) -> Result<T, &'static str>,
}

impl<'de, T, O: Deserialize<'de>> Visitor<'de> for WordOrObject<T, O> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
        (self.of_word)(word).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        (self.of_object)(O::deserialize(MapAccessDeserializer::new(map))?).map_err(A::Error::custom)
    }
}

/// Reads an enum. A value that is neither a string nor an object is reported as an error of its field, not of the JSON text.
pub(crate) fn variant<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    if value.as_object().is_some_and(|variant| variant.values().any(serde_json::Value::is_array)) {
        return Err(Error::custom("must have an object, not a list"));
    }
    T::deserialize(value).map_err(Error::custom)
}

/// Reads an optional value that is written as a string.
pub(crate) fn word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(Error::custom)).transpose()
}

/// Defines objects of answers. An `Option` without a value is left out of the JSON.
macro_rules! answers {
    ($($(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* })*) => {
        $(crate::object::fields! { [$(#[$attribute])* pub struct $name] [] $($fields)* })*
    };
}
pub(crate) use answers;

/// Defines objects of requests, in the same way. An unknown field is refused.
macro_rules! requests {
    ($($(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* })*) => {
        $(crate::object::fields! {
            [$(#[$attribute])* #[serde(deny_unknown_fields)] pub struct $name] [] $($fields)*
        })*
    };
}
pub(crate) use requests;

/// Defines an object: its head, the fields that are done, and those to do.
macro_rules! fields {
    ([$($head:tt)*] [$($done:tt)*]) => {
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $($head)* { $($done)* }
    };
    ($head:tt [$($done:tt)*] $(#[$attribute:meta])* pub $field:ident: Option<$type:ty>, $($rest:tt)*) => {
        crate::object::fields! {
            $head [
                $($done)*
                $(#[$attribute])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            ]
            $($rest)*
        }
    };
    ($head:tt [$($done:tt)*] $(#[$attribute:meta])* pub $field:ident: $type:ty, $($rest:tt)*) => {
        crate::object::fields! { $head [$($done)* $(#[$attribute])* pub $field: $type,] $($rest)* }
    };
}
pub(crate) use fields;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Submit;

    #[test]
    fn only_an_object_is_a_request() {
        assert!(object::<Submit>(b" {\"kind\":\"k\"}").is_ok());
        let code = |text: &str| object::<Submit>(text.as_bytes()).err().map(|refusal| refusal.code);
        for text in ["[\"k\"]", "[]", "5", "null", "\"k\""] {
            assert_eq!(code(text), Some(Code::InvalidInput), "{text}");
        }
        for text in ["", "[", "nonsense", "{} x", "{\"knd\":1"] {
            assert_eq!(code(text), Some(Code::InvalidJson), "{text}");
        }
    }
}
