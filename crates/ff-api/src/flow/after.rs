//! What a node waits for: the name of another node, alone or with what is passed on.

use std::fmt;

use ff_core::flow::Passing;
use ff_core::types::NodeName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::passing;

/// One edge into a node: `"extract"`, or `{"node": "extract", "passes": {"input": "rows"}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub node: NodeName,
    pub passes: Option<Passing>,
}

/// The long form.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Told {
    node: NodeName,
    #[serde(default, deserialize_with = "passing::read", skip_serializing_if = "Option::is_none")]
    passes: Option<Passing>,
}

impl Serialize for After {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.passes {
            None => self.node.serialize(serializer),
            passes => Told { node: self.node.clone(), passes: passes.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrMore)
    }
}

struct NameOrMore;

impl<'de> Visitor<'de> for NameOrMore {
    type Value = After;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a node, or an object with its name as `node`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<After, E> {
        Ok(After { node: NodeName::parse(name).map_err(E::custom)?, passes: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<After, A::Error> {
        let Told { node, passes } = Told::deserialize(MapAccessDeserializer::new(map))?;
        Ok(After { node, passes })
    }
}
