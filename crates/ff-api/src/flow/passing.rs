//! The data an edge passes on: the payload, or a named input.

use std::fmt;

use ff_core::flow::PassMode;
use ff_core::types::InputName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads `"payload"`, `{"input": "rows"}` or `null`.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PassMode>, D::Error> {
    deserializer.deserialize_any(PassModeVisitor)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedInput {
    input: InputName,
}

struct PassModeVisitor;

impl<'de> Visitor<'de> for PassModeVisitor {
    type Value = Option<PassMode>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("payload, or an object with the name of an `input`")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<PassMode>, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Option<PassMode>, E> {
        match word {
            "payload" => Ok(Some(PassMode::Payload)),
            _ => Err(E::custom("must be payload, or an object with the name of an `input`")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<PassMode>, A::Error> {
        let NamedInput { input } = NamedInput::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Some(PassMode::Input(input)))
    }
}
