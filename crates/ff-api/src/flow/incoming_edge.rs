//! An incoming edge of a node: the name of the upstream node, alone or with the data that the edge passes on.

use ff_core::flow::PassMode;
use ff_core::types::NodeName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::passing;
use crate::object::WordOrObject;

/// One edge into a node: `"extract"`, or `{"node": "extract", "passes": {"input": "rows"}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingEdge {
    pub node: NodeName,
    pub passes: Option<PassMode>,
}

/// The object form.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
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
        deserializer.deserialize_any(WordOrObject {
            expected: "the name of a node, or an object with its name as `node`",
            of_word: |name| match NodeName::parse(name) {
                Ok(node) => Ok(Self { node, passes: None }),
                Err(error) => Err(error.to_string()),
            },
            of_object: |IncomingEdgeObject { node, passes }| Ok(Self { node, passes }),
        })
    }
}
