//! The flow as the worker of a member sees it, and the inputs that upstreams passed on to it.

use serde::{Deserialize, Serialize};

use crate::flow::{Edge, Membership, PassMode};
use crate::limits;
use crate::payload::Payload;
use crate::types::{ExecutionId, FlowId, InputName, NodeName};

/// The place of a task in its flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaskFlow {
    pub flow_id: FlowId,
    pub node: NodeName,
    /// Number of named inputs.
    pub inputs: u32,
}

impl From<&Membership> for TaskFlow {
    fn from(membership: &Membership) -> Self {
        Self { flow_id: membership.flow_id, node: membership.node.clone(), inputs: membership.inputs }
    }
}

/// The result of an upstream, under the input name of its edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub name: InputName,
    pub from: ExecutionId,
    /// Absent if the payload does not fit into the size limit together with the earlier inputs; the worker then reads
    /// the result of the upstream. Also absent while the upstream runs again.
    pub payload: Option<Payload>,
}

impl Input {
    /// Returns the inputs that the edges into an execution passed on, sorted by name. Payloads are included up to
    /// [`limits::INPUT_BYTES`] in total.
    pub fn of_edges<'e>(
        edges: impl IntoIterator<Item = &'e Edge>,
        mut result: impl FnMut(&ExecutionId) -> Option<Payload>,
    ) -> Vec<Self> {
        let named = |edge: &'e Edge| match (&edge.passes, edge.passed_bytes) {
            (Some(PassMode::Input(name)), Some(bytes)) => Some((name, edge.id, edge.upstream_execution_id, bytes)),
            _ => None,
        };
        let mut passed: Vec<_> = edges.into_iter().filter_map(named).collect();
        passed.sort_unstable();
        let mut left = limits::INPUT_BYTES as u64;
        let mut hand = |(name, _, from, bytes): (&InputName, _, ExecutionId, u64)| {
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            Self { name: name.clone(), from, payload: if fits { result(&from) } else { None } }
        };
        passed.into_iter().map(&mut hand).collect()
    }
}
