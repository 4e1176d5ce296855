//! The nodes of a graph by name, each with its incoming edges.

use std::collections::BTreeMap;
use std::fmt;

use ff_core::contracts::{EdgeSpec, NodeSpec};
use ff_core::engine_error::Refusal;
use ff_core::flow::Join;
use ff_core::policy::Policy;
use ff_core::types::{ContentType, Kind, LaneId, NodeName, Priority, TagValue, TimestampMs};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{IncomingEdge, JoinBody};
use crate::content::present;
use crate::execution::start;
use crate::execution::submit::{policy, tags};
use crate::object::requests;
use crate::{Base64, Content, Encoding};

/// Nodes by name, in the order of the request. A duplicate name is kept, so that the check of the graph can report it.
#[derive(Clone, Default)]
pub struct Nodes(pub Vec<(NodeName, Node)>);

requests! {
    /// A node: the fields of a submission, and the edges into it.
    #[derive(Clone)]
    pub struct Node {
        pub kind: Kind,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
        pub lane: Option<LaneId>,
        pub priority: Option<Priority>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub tags: BTreeMap<String, TagValue>,
        pub delay_ms: Option<u64>,
        pub start_at: Option<TimestampMs>,
        #[schemars(with = "Option<Policy>")]
        pub policy: Option<Box<RawValue>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub after: Vec<IncomingEdge>,
        pub join: Option<JoinBody>,
    }
}

impl Nodes {
    /// Makes the request form of nodes. Payloads are base64, which keeps every byte. `after` returns the edges into a node.
    pub fn of(
        specs: Vec<NodeSpec>,
        mut after: impl FnMut(&NodeName) -> Vec<IncomingEdge>,
    ) -> Result<Self, serde_json::Error> {
        let node = |spec: NodeSpec| {
            let entering = after(&spec.name);
            Ok((spec.name.clone(), Node::of(spec, entering)?))
        };
        Ok(Self(specs.into_iter().map(node).collect::<Result<_, _>>()?))
    }

    /// Returns the nodes and the edges between them, with defaults filled in.
    pub fn into_specs(self) -> Result<(Vec<NodeSpec>, Vec<EdgeSpec>), Refusal> {
        let (mut nodes, mut edges) = (Vec::with_capacity(self.0.len()), Vec::new());
        for (name, mut node) in self.0 {
            let entering = std::mem::take(&mut node.after).into_iter();
            edges.extend(entering.map(|IncomingEdge { node: upstream, passes }| EdgeSpec {
                upstream,
                downstream: name.clone(),
                passes,
            }));
            let within = |refusal: Refusal| match refusal.field.clone() {
                Some(field) => refusal.at(format!("nodes.{name}.{field}")),
                None => refusal.at(format!("nodes.{name}")),
            };
            nodes.push(node.into_spec(name.clone()).map_err(within)?);
        }
        Ok((nodes, edges))
    }
}

impl Node {
    fn of(spec: NodeSpec, after: Vec<IncomingEdge>) -> Result<Self, serde_json::Error> {
        let content = Content::of(&spec.payload, Encoding::Base64);
        let (delay_ms, start_at) = start::write(spec.start);
        let policy = (!spec.policy.is_default()).then(|| serde_json::value::to_raw_value(&spec.policy)).transpose()?;
        Ok(Self {
            kind: spec.kind,
            payload: content.json,
            payload_base64: content.base64,
            content_type: content.content_type,
            lane: Some(spec.lane),
            priority: Some(spec.priority),
            tags: spec.tags.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
            delay_ms,
            start_at,
            policy,
            after,
            join: (spec.join != Join::AllOf).then_some(JoinBody(spec.join)),
        })
    }

    fn into_spec(self, name: NodeName) -> Result<NodeSpec, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(NodeSpec {
            name,
            lane: self.lane.unwrap_or_else(LaneId::default_name),
            kind: self.kind,
            payload: content.into_payload("payload")?.unwrap_or_default(),
            priority: self.priority.unwrap_or_default(),
            tags: tags(self.tags)?,
            start: start::read(self.delay_ms, self.start_at)?,
            policy: self.policy.map_or_else(|| Ok(Policy::default()), |json| policy(&json))?,
            join: self.join.map_or(Join::AllOf, |JoinBody(join)| join),
        })
    }
}

impl Serialize for Nodes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, node)| map.serialize_entry(name, node))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NodesVisitor)
    }
}

struct NodesVisitor;

impl<'de> Visitor<'de> for NodesVisitor {
    type Value = Nodes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of nodes by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Nodes, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = map.next_entry()? {
            nodes.push(node);
        }
        Ok(Nodes(nodes))
    }
}
