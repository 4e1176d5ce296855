//! Flows in transitions. A flow is a number, and a node has the number of its job.

use ff_core::flow::Join;

use super::{FenceChoice, Submission};

/// A whole graph to submit. The flow's id follows from its number, so the same number refers to the same flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub flow: u32,
    pub namespace: u8,
    pub kind: u8,
    pub tags: usize,
    pub nodes: Vec<Node>,
    pub edges: Vec<Link>,
}

/// A member and the join of the edges into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub work: Submission,
    pub join: Join,
}

/// An edge: the job `to` waits for the job `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    pub passes: Option<Pass>,
}

/// The value that an edge passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Payload,
    Input(u8),
}

/// Members and edges to add to a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    pub flow: u32,
    pub nodes: Vec<Node>,
    pub joins: Vec<(u32, Join)>,
    pub edges: Vec<Link>,
    /// Whether jobs are named by their executions, not by their nodes.
    pub by_id: bool,
    /// The holder that makes the call: its job and its fence.
    pub holder: Option<(u32, FenceChoice)>,
    /// The expected revision of the graph, relative to the current one.
    pub revision: Option<i64>,
    pub key: Option<u8>,
}
