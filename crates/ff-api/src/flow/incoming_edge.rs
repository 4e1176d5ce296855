//! An incoming edge of a node: the name of the upstream node, alone or with the data that the edge passes on.

use std::fmt;

use ff_core::flow::PassMode;
use ff_core::types::NodeName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::passing;

/// One edge into a node: `"extract"`, or `{"node": "extract", "passes": {"input": "rows"}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingEdge {
    pub node: NodeName,
    pub passes: Option<PassMode>,
}

/// The object form.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct IncomingEdgeObject {
    node: NodeName,
    #[serde(default, deserialize_with = "passing::read", skip_serializing_if = "Option::is_none")]
    passes: Option<PassMode>,
}

impl Serialize for IncomingEdge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.passes {
            None => self.node.serialize(serializer),
            passes => IncomingEdgeObject { node: self.node.clone(), passes: passes.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for IncomingEdge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IncomingEdgeVisitor)
    }
}

struct IncomingEdgeVisitor;

impl<'de> Visitor<'de> for IncomingEdgeVisitor {
    type Value = IncomingEdge;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a node, or an object with its name as `node`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<IncomingEdge, E> {
        Ok(IncomingEdge { node: NodeName::parse(name).map_err(E::custom)?, passes: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<IncomingEdge, A::Error> {
        let IncomingEdgeObject { node, passes } = IncomingEdgeObject::deserialize(MapAccessDeserializer::new(map))?;
        Ok(IncomingEdge { node, passes })
    }
}
