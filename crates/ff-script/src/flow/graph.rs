//! Members, edges and joins as the functions take them: each a list of texts, empty where something is not said.

use bytes::Bytes;
use ff_core::contracts::{MemberRef, NodeSpec};
use ff_core::flow::{Join, Passing, edge_id, member_id};
use ff_core::partition::PartitionConfig;
use ff_core::types::{EdgeId, ExecutionId, FlowId, NodeName};

use crate::ScriptError;
use crate::execution::{digest, start, unless_default, unless_json};

/// The flow whose graph is handed over, and where it lives.
#[derive(Clone, Copy)]
pub(super) struct Graph<'p> {
    pub(super) flow_id: FlowId,
    pub(super) partitions: &'p PartitionConfig,
}

impl Graph<'_> {
    /// The execution a node is.
    pub(super) fn member(self, node: &NodeName) -> ExecutionId {
        member_id(&self.flow_id, node, self.partitions)
    }

    /// The execution that is meant.
    pub(super) fn resolve(self, member: &MemberRef) -> ExecutionId {
        match member {
            MemberRef::Node(node) => self.member(node),
            MemberRef::Execution(id) => *id,
        }
    }

    /// A member.
    pub(super) fn node(self, node: NodeSpec) -> Result<Vec<Bytes>, ScriptError> {
        let (start_in_ms, start_at) = start(node.start);
        let timeouts = &node.policy.timeout_policy;
        let mut items = vec![
            self.member(&node.name).to_string().into(),
            node.name.to_string().into(),
            node.lane.to_string().into(),
            node.kind.to_string().into(),
            node.payload.bytes.clone(),
            digest(&node.payload)?,
            unless_json(&node.payload.content_type).unwrap_or_default().into(),
            node.priority.get().to_string().into(),
            maybe(start_in_ms),
            maybe(start_at),
            maybe(timeouts.execution_deadline_ms),
            maybe(timeouts.attempt_timeout_ms),
            unless_default(&node.policy)?.unwrap_or_default().into(),
        ];
        items.extend(join(node.join));
        items.push(node.tags.len().to_string().into());
        items.extend(super::create::flat(&node.tags));
        Ok(items)
    }

    /// An edge, with how its caller calls it.
    pub(super) fn edge(
        self,
        upstream: &ExecutionId,
        downstream: &ExecutionId,
        passes: Option<&Passing>,
        name: String,
    ) -> [Bytes; 6] {
        let (passes, input) = match passes {
            None => ("", String::new()),
            Some(Passing::Payload) => ("payload", String::new()),
            Some(Passing::Input(name)) => ("input", name.to_string()),
        };
        [
            self.edge_id(upstream, downstream).to_string().into(),
            upstream.to_string().into(),
            downstream.to_string().into(),
            Bytes::from_static(passes.as_bytes()),
            input.into(),
            name.into(),
        ]
    }

    /// How the edges into a member are to join.
    pub(super) fn join(self, member: &MemberRef, how: Join) -> Vec<Bytes> {
        let mut items = vec![self.resolve(member).to_string().into(), member.to_string().into()];
        items.extend(join(how));
        items
    }

    pub(super) fn edge_id(self, upstream: &ExecutionId, downstream: &ExecutionId) -> EdgeId {
        edge_id(&self.flow_id, upstream, downstream)
    }
}

/// A join: its variant, how many it needs, and what becomes of the others.
fn join(join: Join) -> [Bytes; 3] {
    let (variant, k, on_satisfied) = match join {
        Join::AllOf => ("all_of", String::new(), String::new()),
        Join::AnyOf { on_satisfied } => ("any_of", String::new(), on_satisfied.to_string()),
        Join::Quorum { k, on_satisfied } => ("quorum", k.to_string(), on_satisfied.to_string()),
    };
    [Bytes::from_static(variant.as_bytes()), k.into(), on_satisfied.into()]
}

fn maybe(number: Option<u64>) -> Bytes {
    number.map(|number| number.to_string()).unwrap_or_default().into()
}
