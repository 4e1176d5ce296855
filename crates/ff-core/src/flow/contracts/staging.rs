//! A flow in parts that a store takes one at a time.

use super::{EdgeSpec, FlowHeader, NodeSpec, SubmittedFlow};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::payload::Fingerprint;

/// One part of a submission. Nothing is visible until the last part has come; a flow of one part is there at once.
#[derive(Clone, Debug, PartialEq)]
pub struct StageFlowArgs {
    pub header: FlowHeader,
    /// Stands for the whole graph: the same id with another graph is a conflict.
    pub fingerprint: Fingerprint,
    /// Which part this is, from 0.
    pub part: u32,
    /// How many there are.
    pub parts: u32,
    /// In an order in which every edge, of this part or a later one, goes from an earlier node to a later one.
    pub nodes: Vec<NodeSpec>,
    pub edges: Vec<EdgeSpec>,
}

impl StageFlowArgs {
    pub fn is_last(&self) -> bool {
        self.part + 1 == self.parts
    }

    pub fn check(&self) -> Result<(), Refusal> {
        self.header.check()?;
        if self.part >= self.parts {
            return Err(Refusal::invalid("part", format!("must be below {}, got {}", self.parts, self.part)));
        }
        check_call(&self.nodes, self.edges.len())
    }
}

/// Refuses a call that adds too much at once, or something that is over a limit by itself.
pub(crate) fn check_call(nodes: &[NodeSpec], edges: usize) -> Result<(), Refusal> {
    if nodes.len() > limits::FLOW_CALL_NODES {
        return Err(Refusal::over_limit(Code::LimitExceeded, "nodes", limits::FLOW_CALL_NODES, nodes.len()));
    }
    if edges > limits::FLOW_CALL_EDGES {
        return Err(Refusal::over_limit(Code::LimitExceeded, "edges", limits::FLOW_CALL_EDGES, edges));
    }
    nodes.iter().try_for_each(NodeSpec::check)
}

/// What became of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagedFlow {
    /// It is kept; the next one is asked for.
    Staged { next_part: u32 },
    /// It was the last, or the whole flow was there already.
    Submitted(SubmittedFlow),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::playground::{graph, spec};

    #[test]
    fn a_part_is_taken_at_its_limit_and_refused_one_past_it() {
        let nodes = |count| (0..count).map(|n| spec(&format!("n{n}"))).collect::<Vec<_>>();
        assert_eq!(check_call(&nodes(limits::FLOW_CALL_NODES), limits::FLOW_CALL_EDGES), Ok(()));
        let refusal = check_call(&nodes(limits::FLOW_CALL_NODES + 1), 0).unwrap_err();
        assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("nodes"), Some((20, 21))));
        let refusal = check_call(&[], limits::FLOW_CALL_EDGES + 1).unwrap_err();
        assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("edges"), Some((20, 21))));
    }

    #[test]
    fn a_part_beyond_the_last_is_refused() {
        let mut part = graph("a", &[]).plan().unwrap().remove(0);
        assert_eq!(part.check(), Ok(()));
        part.part = 1;
        assert_eq!(part.check().unwrap_err().field.as_deref(), Some("part"));
    }
}
