//! Flows in transitions: a flow is a number, and a node has the number of its job.

use ff_core::flow::Join;

use super::{Submission, Whose};

/// A whole graph to be submitted. The flow's number is its id, so that the same number again is the same flow again.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub flow: u32,
    pub namespace: u8,
    pub kind: u8,
    pub tags: usize,
    pub nodes: Vec<Node>,
    pub edges: Vec<Link>,
}

/// One member, and how the edges into it join.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub work: Submission,
    pub join: Join,
}

/// That one job waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    pub passes: Option<Pass>,
}

/// The value an edge passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Payload,
    Input(u8),
}

/// Members and edges to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    pub flow: u32,
    pub nodes: Vec<Node>,
    pub joins: Vec<(u32, Join)>,
    pub edges: Vec<Link>,
    /// Whether jobs are named by their executions.
    pub by_id: bool,
    /// In whose name: that of a job, with this fence.
    pub holder: Option<(u32, Whose)>,
    /// Only on the revision so far from the one there is.
    pub revision: Option<i64>,
    pub key: Option<u8>,
}
