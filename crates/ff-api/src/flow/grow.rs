//! Members and edges to add to a live flow, on the wire.

use std::str::FromStr;

use ff_core::contracts::{self, GrowFlowArgs, JoinSpec, MemberRef};
use ff_core::engine_error::Refusal;
use ff_core::flow::PassMode;
use ff_core::lease::Fence;
use ff_core::types::{AttemptId, ExecutionId, FlowId, IdempotencyKey, LeaseEpoch, LeaseId, NodeName};

use super::{JoinBody, Nodes, passing};
use crate::Strict;
use crate::object::requests;

requests! {
    /// Members and edges to add, all or none.
    pub struct GrowFlow {
        pub expected_graph_revision: Option<u64>,
        pub idempotency_key: Option<IdempotencyKey>,
        /// New members, with the edges into them.
        #[serde(default)]
        pub nodes: Nodes,
        /// Edges between members, new or existing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub edges: Vec<Strict<EdgeAddition>>,
        /// Joins of existing members.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub joins: Vec<Strict<MemberJoin>>,
        /// The running member that adds them.
        pub holder: Option<Strict<FlowHolder>>,
    }

    /// An edge between two members, each given by name or by execution id.
    pub struct EdgeAddition {
        pub upstream: String,
        pub downstream: String,
        #[serde(deserialize_with = "passing::read")]
        pub passes: Option<PassMode>,
    }

    /// How the edges into a member join.
    pub struct MemberJoin {
        pub member: String,
        pub join: JoinBody,
    }

    /// A running member and the fence of its lease.
    pub struct FlowHolder {
        pub execution_id: ExecutionId,
        pub lease_id: LeaseId,
        pub lease_epoch: LeaseEpoch,
        pub attempt_id: AttemptId,
    }
}

impl GrowFlow {
    pub fn of(args: GrowFlowArgs) -> Result<Self, serde_json::Error> {
        let edge = |edge: contracts::EdgeAddition| EdgeAddition {
            upstream: edge.upstream.to_string(),
            downstream: edge.downstream.to_string(),
            passes: edge.passes,
        };
        let join = |spec: JoinSpec| MemberJoin { member: spec.member.to_string(), join: JoinBody(spec.join) };
        let holder = |(execution_id, fence): (ExecutionId, Fence)| {
            let Fence { lease_id, lease_epoch, attempt_id } = fence;
            FlowHolder { execution_id, lease_id, lease_epoch, attempt_id }
        };
        Ok(Self {
            expected_graph_revision: args.expected_graph_revision,
            idempotency_key: args.idempotency_key,
            nodes: Nodes::of(args.nodes, |_| Vec::new())?,
            edges: args.edges.into_iter().map(|one| Strict(edge(one))).collect(),
            joins: args.joins.into_iter().map(|one| Strict(join(one))).collect(),
            holder: args.holder.map(|one| Strict(holder(one))),
        })
    }

    pub fn into_args(self, flow_id: FlowId) -> Result<GrowFlowArgs, Refusal> {
        let (nodes, entering) = self.nodes.into_specs()?;
        let mut edges: Vec<_> = entering
            .into_iter()
            .map(|edge| contracts::EdgeAddition {
                upstream: MemberRef::Node(edge.upstream),
                downstream: MemberRef::Node(edge.downstream),
                passes: edge.passes,
            })
            .collect();
        for (at, Strict(edge)) in self.edges.into_iter().enumerate() {
            let end = |text: &str, which: &str| member(text, &format!("edges[{at}].{which}"));
            edges.push(contracts::EdgeAddition {
                upstream: end(&edge.upstream, "upstream")?,
                downstream: end(&edge.downstream, "downstream")?,
                passes: edge.passes,
            });
        }
        let join = |(at, Strict(one)): (usize, Strict<MemberJoin>)| {
            Ok(JoinSpec { member: member(&one.member, &format!("joins[{at}].member"))?, join: one.join.0 })
        };
        let holder = self.holder.map(|Strict(holder)| {
            let FlowHolder { execution_id, lease_id, lease_epoch, attempt_id } = holder;
            (execution_id, Fence { lease_id, lease_epoch, attempt_id })
        });
        Ok(GrowFlowArgs {
            flow_id,
            expected_graph_revision: self.expected_graph_revision,
            nodes,
            joins: self.joins.into_iter().enumerate().map(join).collect::<Result<_, Refusal>>()?,
            edges,
            holder,
            idempotency_key: self.idempotency_key,
        })
    }
}

/// Reads a member: an execution id, which begins with a brace, or the name of a node, which contains none.
fn member(text: &str, field: &str) -> Result<MemberRef, Refusal> {
    if text.starts_with('{') {
        let id = ExecutionId::from_str(text).map_err(|error| Refusal::invalid(field, error))?;
        return Ok(MemberRef::Execution(id));
    }
    Ok(MemberRef::Node(NodeName::parse(text).map_err(|error| Refusal::invalid(field, error))?))
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::NodeSpec;
    use ff_core::flow::{Join, OnSatisfied};
    use ff_core::json;
    use ff_core::payload::Payload;
    use ff_core::types::Kind;

    use super::*;

    fn node(text: &str) -> MemberRef {
        MemberRef::Node(NodeName::parse(text).unwrap())
    }

    #[test]
    fn a_change_arrives_as_it_was_sent() {
        let (flow, execution) = (FlowId::new(), ExecutionId::new(7, uuid::Uuid::from_u128(1)));
        let fence = Fence { lease_id: LeaseId::new(), lease_epoch: LeaseEpoch(3), attempt_id: AttemptId::new() };
        let join = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
        let kind = Kind::parse("k").unwrap();
        let args = GrowFlowArgs {
            expected_graph_revision: Some(4),
            nodes: vec![NodeSpec::new(NodeName::parse("b").unwrap(), kind, Payload::bytes(vec![1]))],
            joins: vec![JoinSpec { member: node("p"), join }],
            edges: vec![
                contracts::EdgeAddition { upstream: node("b"), downstream: node("p"), passes: Some(PassMode::Payload) },
                contracts::EdgeAddition {
                    upstream: MemberRef::Execution(execution),
                    downstream: node("b"),
                    passes: None,
                },
            ],
            holder: Some((execution, fence)),
            idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
            ..GrowFlowArgs::new(flow)
        };
        for args in [args, GrowFlowArgs::new(flow)] {
            let text = serde_json::to_string(&GrowFlow::of(args.clone()).unwrap()).unwrap();
            let back = json::read::<GrowFlow>(text.as_bytes()).and_then(|call| call.into_args(flow));
            assert_eq!(back, Ok(args), "{text}");
        }
    }

    #[test]
    fn an_invalid_growth_body_is_refused_with_its_full_path() {
        for (text, field) in [
            (r#"{"edges":[{"upstream":"a"}]}"#, "edges[0].downstream"),
            (r#"{"edges":[["a","b"]]}"#, "edges[0]"),
            (r#"{"edges":[{"upstream":"a","downstream":"b","passes":5}]}"#, "edges[0].passes"),
            (r#"{"edges":[{"upstream":"a b","downstream":"b"}]}"#, "edges[0].upstream"),
            (r#"{"edges":[{"upstream":"a","downstream":"{fp:x}"}]}"#, "edges[0].downstream"),
            (r#"{"joins":[{"member":"a","join":"most"}]}"#, "joins[0].join"),
            (r#"{"holder":{"execution_id":"x"}}"#, "holder.execution_id"),
            (r#"{"nodes":{"a":{"kind":"k","after":["x y"]}}}"#, "nodes.a.after[0]"),
        ] {
            let refusal = json::read::<GrowFlow>(text.as_bytes()).and_then(|call| call.into_args(FlowId::new()));
            assert_eq!(refusal.unwrap_err().field.as_deref(), Some(field), "{text}");
        }
    }
}
