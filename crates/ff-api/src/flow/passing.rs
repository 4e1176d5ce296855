//! What an edge passes on: a word, or the name of an input.

use std::fmt;

use ff_core::flow::Passing;
use ff_core::types::InputName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads `"payload"` or `{"input": "rows"}`, or nothing.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Passing>, D::Error> {
    deserializer.deserialize_any(WordOrInput)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    input: InputName,
}

struct WordOrInput;

impl<'de> Visitor<'de> for WordOrInput {
    type Value = Option<Passing>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("payload, or an object with the name of an `input`")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Passing>, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Option<Passing>, E> {
        match word {
            "payload" => Ok(Some(Passing::Payload)),
            _ => Err(E::custom("must be payload, or an object with the name of an `input`")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<Passing>, A::Error> {
        let Named { input } = Named::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Some(Passing::Input(input)))
    }
}
