//! Builder state for the nodes and edges of a flow.

use std::ops::Range;

use ff_core::contracts::{EdgeSpec, NodeSpec};
use ff_core::engine_error::{Code, Refusal};
use ff_core::flow::{Join, PassMode};
use ff_core::types::{InputName, NodeName};

use super::Node;
use crate::Error;

/// A graph under construction. A join applies to the node named last, and a passed result to the edges added last.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<NodeSpec>,
    pub(super) edges: Vec<EdgeSpec>,
    pub(super) joins: Vec<(NodeName, Join)>,
    /// The node named last.
    current: Option<NodeName>,
    /// The edges added last.
    latest: Range<usize>,
}

impl Draft {
    pub(super) fn of(nodes: Vec<NodeSpec>, edges: Vec<EdgeSpec>) -> Self {
        Self { nodes, edges, ..Self::default() }
    }

    pub(super) fn node(&mut self, name: &str, node: Node) -> Result<(), Error> {
        let name = node_name("nodes", name)?;
        self.nodes.push(node.build(name.clone())?);
        self.current = Some(name);
        self.latest = 0..0;
        Ok(())
    }

    pub(super) fn after<'n>(&mut self, node: &str, upstreams: impl Iterator<Item = &'n str>) -> Result<(), Error> {
        let from = self.edges.len();
        let mut downstream = None;
        for upstream in upstreams {
            let field = format!("edges.{upstream}->{node}");
            let [upstream, end] = [node_name(&field, upstream)?, node_name(&field, node)?];
            self.edges.push(EdgeSpec { upstream, downstream: end.clone(), passes: None });
            downstream = Some(end);
        }
        self.current = Some(downstream.map_or_else(|| node_name("edges", node), Ok)?);
        self.latest = from..self.edges.len();
        Ok(())
    }

    pub(super) fn passes(&mut self, passes: &PassMode) -> Result<(), Error> {
        if self.latest.is_empty() {
            return Err(Refusal::invalid("edges", "what is passed on is said right after an edge").into());
        }
        self.edges[self.latest.clone()].iter_mut().for_each(|edge| edge.passes = Some(passes.clone()));
        Ok(())
    }

    pub(super) fn passes_input(&mut self, name: &str) -> Result<(), Error> {
        let field = || match self.latest.clone().next().and_then(|at| self.edges.get(at)) {
            Some(edge) => format!("edges.{}->{}", edge.upstream, edge.downstream),
            None => "edges".to_owned(),
        };
        let name =
            InputName::parse(name).map_err(|error| Refusal::invalid(field(), format!("passes {name:?}: {error}")))?;
        self.passes(&PassMode::Input(name))
    }

    pub(super) fn join(&mut self, join: Join) -> Result<(), Error> {
        let Some(node) = self.current.clone() else {
            return Err(
                Refusal::invalid("nodes", "how edges join is said right after a node or an edge into it").into()
            );
        };
        self.joins.push((node, join));
        Ok(())
    }

    /// Sets the join of every node of the draft. Returns the joins of nodes that are not in it.
    pub(super) fn settle(&mut self) -> Vec<(NodeName, Join)> {
        let mut others = Vec::new();
        for (name, join) in std::mem::take(&mut self.joins) {
            match self.nodes.iter_mut().find(|node| node.name == name) {
                Some(node) => node.join = join,
                None => others.push((name, join)),
            }
        }
        others
    }
}

/// Parses the name of a node.
pub(crate) fn node_name(field: &str, text: &str) -> Result<NodeName, Error> {
    let parsed = NodeName::parse(text);
    Ok(parsed.map_err(|error| Code::InvalidInput.refusal().at(field).because(format!("names {text:?}: {error}")))?)
}
