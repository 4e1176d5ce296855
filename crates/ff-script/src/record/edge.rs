//! Edges: what never changes of one is kept by its flow, how it stands by the member it goes into.

use ff_core::flow::{Edge, Passing};
use ff_core::types::FlowId;

use super::Hash;
use crate::ScriptError;
use crate::flow::EdgeFields;

impl EdgeFields {
    /// The edge these are the fields of.
    pub fn edge(&self, flow_id: FlowId) -> Result<Edge, ScriptError> {
        Ok(Edge {
            id: self.id,
            flow_id,
            upstream_execution_id: self.edge.read("upstream_execution_id")?,
            downstream_execution_id: self.edge.read("downstream_execution_id")?,
            passes: passes(&self.edge)?,
            round: self.dep.count("round")?,
            state: self.dep.read("state")?,
            passed_bytes: self.dep.maybe("passed_bytes")?,
        })
    }

    /// What does not fit together: either half repeats some of the other.
    pub fn strays(&self) -> Vec<String> {
        let differs = |name: &&str| self.edge.bytes(name) != self.dep.bytes(name);
        let twice = ["upstream_execution_id", "passes", "input_name"].into_iter().filter(differs);
        twice.map(|name| format!("the edge {} has two answers to what its {name} is", self.id)).collect()
    }
}

/// What becomes of the upstream's result.
fn passes(fields: &Hash) -> Result<Option<Passing>, ScriptError> {
    match fields.text("passes")? {
        None => Ok(None),
        Some("payload") => Ok(Some(Passing::Payload)),
        Some("input") => Ok(Some(Passing::Input(fields.read("input_name")?))),
        Some(other) => Err(ScriptError::parse(format!("no edge passes on {other}"))),
    }
}
