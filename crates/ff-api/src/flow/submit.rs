//! A whole flow on the wire, and in a file.

use std::collections::{BTreeMap, HashMap};

use ff_core::contracts::{CreateFlowArgs, FlowHeader, SubmitFlowArgs};
use ff_core::engine_error::Refusal;
use ff_core::types::{FlowId, IdempotencyKey, Kind, Namespace, NodeName, TagValue};
use serde::{Deserialize, Serialize};

use super::{IncomingEdge, Nodes};
use crate::execution::submit::tags;
use crate::{Strict, Trace, trace};

/// A new flow.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SubmitFlow {
    pub kind: Kind,
    /// The submitter's own, so that it can send the same submission again; made by the server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    /// What makes another submission of the same graph the same flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, TagValue>,
    /// It begins without nodes and does not end before it is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_open: bool,
    /// The submitter's trace, in place of the one its headers name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Strict<Trace>>,
    #[serde(default)]
    pub nodes: Nodes,
}

/// What a request for a new flow can mean.
#[derive(Debug, PartialEq)]
pub enum NewFlow {
    /// All of it is there.
    Whole(SubmitFlowArgs),
    /// Its members are yet to come.
    HeldOpen(CreateFlowArgs),
}

impl SubmitFlow {
    /// A whole flow as it travels.
    pub fn of(args: SubmitFlowArgs) -> Result<Self, serde_json::Error> {
        let mut entering: HashMap<NodeName, Vec<IncomingEdge>> = HashMap::new();
        for edge in args.edges {
            entering
                .entry(edge.downstream)
                .or_default()
                .push(IncomingEdge { node: edge.upstream, passes: edge.passes });
        }
        let nodes = Nodes::of(args.nodes, |name| entering.remove(name).unwrap_or_default())?;
        Ok(Self { nodes, ..Self::headed(args.header) })
    }

    /// A flow without members as it travels.
    pub fn held_open(args: CreateFlowArgs) -> Self {
        Self { held_open: true, ..Self::headed(args.header) }
    }

    fn headed(header: FlowHeader) -> Self {
        Self {
            kind: header.kind,
            flow_id: header.idempotency_key.is_none().then_some(header.flow_id),
            idempotency_key: header.idempotency_key,
            namespace: Some(header.namespace),
            tags: header.tags.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
            held_open: false,
            trace: trace::sent(header.trace.as_deref()),
            nodes: Nodes::default(),
        }
    }

    pub fn into_new(self) -> Result<NewFlow, Refusal> {
        let namespace = self.namespace.unwrap_or_else(Namespace::default_name);
        let (tags, trace) = (tags(self.tags)?, trace::read(self.trace)?);
        let header = FlowHeader { namespace, tags, trace, ..FlowHeader::new(self.kind) };
        let header = match (self.flow_id, self.idempotency_key) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid("idempotency_key", "cannot be given together with flow_id"));
            }
            (Some(flow_id), None) => FlowHeader { flow_id, ..header },
            (None, Some(key)) => header.keyed(key),
            (None, None) => header,
        };
        let (nodes, edges) = self.nodes.into_specs()?;
        match (self.held_open, nodes.is_empty()) {
            (false, _) => Ok(NewFlow::Whole(SubmitFlowArgs { header, nodes, edges })),
            (true, true) => Ok(NewFlow::HeldOpen(CreateFlowArgs { header })),
            (true, false) => Err(Refusal::invalid(
                "held_open",
                "must be false beside nodes: a flow that is held open begins without any",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{EdgeSpec, NodeSpec, Start};
    use ff_core::engine_error::Code;
    use ff_core::flow::{Join, OnSatisfied, PassMode};
    use ff_core::json;
    use ff_core::payload::Payload;
    use ff_core::trace::TraceContext;
    use ff_core::types::{InputName, LaneId, Priority, TagKey};

    use super::*;

    fn name(text: &str) -> NodeName {
        NodeName::parse(text).unwrap()
    }

    fn kind(text: &str) -> Kind {
        Kind::parse(text).unwrap()
    }

    fn full() -> SubmitFlowArgs {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::parse(parent, None).ok().map(Box::new);
        let tags = [(TagKey::parse("customer").unwrap(), TagValue::parse("c-17").unwrap())];
        let edge = |upstream: &str, downstream: &str, passes| EdgeSpec {
            upstream: name(upstream),
            downstream: name(downstream),
            passes,
        };
        let b = NodeSpec {
            lane: LaneId::parse("slow").unwrap(),
            priority: Priority::new(7).unwrap(),
            tags: tags.iter().cloned().collect(),
            start: Start::After(5),
            join: Join::Quorum { k: 1, on_satisfied: OnSatisfied::CancelRemaining },
            ..NodeSpec::new(name("b"), kind("k"), Payload::bytes(vec![0, 255]))
        };
        let mut c = NodeSpec::new(name("c"), kind("k"), Payload::json("{ }"));
        c.policy.max_reclaim_count = 3;
        SubmitFlowArgs {
            header: FlowHeader { tags: tags.into_iter().collect(), trace, ..FlowHeader::new(kind("etl")) },
            nodes: vec![c, NodeSpec::new(name("a"), kind("k"), Payload::default()), b],
            edges: vec![
                edge("a", "c", Some(PassMode::Payload)),
                edge("b", "c", Some(PassMode::Input(InputName::parse("rows").unwrap()))),
                edge("a", "b", None),
            ],
        }
    }

    fn read(text: &str) -> Result<NewFlow, Refusal> {
        json::read::<SubmitFlow>(text.as_bytes()).and_then(SubmitFlow::into_new)
    }

    #[test]
    fn a_flow_arrives_as_it_was_sent() {
        let args = full();
        let text = serde_json::to_string(&SubmitFlow::of(args.clone()).unwrap()).unwrap();
        assert_eq!(read(&text), Ok(NewFlow::Whole(args)), "{text}");
        let keyed = full().header.keyed(IdempotencyKey::parse("nightly").unwrap());
        let text = serde_json::to_string(&SubmitFlow::of(SubmitFlowArgs { header: keyed.clone(), ..full() }).unwrap())
            .unwrap();
        assert_eq!(read(&text), Ok(NewFlow::Whole(SubmitFlowArgs { header: keyed, ..full() })), "{text}");
        let create = CreateFlowArgs { header: full().header };
        let text = serde_json::to_string(&SubmitFlow::held_open(create.clone())).unwrap();
        assert_eq!(read(&text), Ok(NewFlow::HeldOpen(create)), "{text}");
    }

    #[test]
    fn a_key_is_the_same_flow_every_time() {
        let id = |text: &str| match read(text) {
            Ok(NewFlow::Whole(args)) => args.header.flow_id,
            other => panic!("{other:?}"),
        };
        let keyed = r#"{"kind":"etl","idempotency_key":"nightly","nodes":{"a":{"kind":"k"}}}"#;
        assert_eq!(id(keyed), id(keyed));
        let anew = r#"{"kind":"etl","nodes":{"a":{"kind":"k"}}}"#;
        assert_ne!(id(anew), id(anew));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_node() {
        let node = |fields: &str| format!(r#"{{"kind":"etl","nodes":{{"a":{{"kind":"k"}},"b":{{{fields}}}}}}}"#);
        for (text, code, field) in [
            (node(""), Code::InvalidInput, "nodes.b.kind"),
            (node(r#""kind":"k k""#), Code::InvalidInput, "nodes.b.kind"),
            (node(r#""kind":"k","laen":"x""#), Code::UnknownField, "nodes.b.laen"),
            (node(r#""kind":"k","policy":{"retry":1}"#), Code::InvalidPolicyJson, "nodes.b.policy.retry"),
            (node(r#""kind":"k","delay_ms":1,"start_at":1"#), Code::InvalidInput, "nodes.b.start_at"),
            (node(r#""kind":"k","after":"a""#), Code::InvalidInput, "nodes.b.after"),
            (node(r#""kind":"k","after":[5]"#), Code::InvalidInput, "nodes.b.after[0]"),
            (node(r#""kind":"k","after":[{"node":"a","pass":1}]"#), Code::UnknownField, "nodes.b.after[0].pass"),
            (node(r#""kind":"k","after":[{"node":"a","passes":"x"}]"#), Code::InvalidInput, "nodes.b.after[0].passes"),
            (node(r#""kind":"k","after":[{"node":"a","passes":5}]"#), Code::InvalidInput, "nodes.b.after[0].passes"),
            (node(r#""kind":"k","join":"most""#), Code::InvalidInput, "nodes.b.join"),
            (node(r#""kind":"k","join":{"type":"any_of","n":1}"#), Code::UnknownField, "nodes.b.join.n"),
            (r#"{"kind":"etl","trace":{"traceparent":"1"}}"#.into(), Code::InvalidInput, "trace.traceparent"),
            (r#"{"kind":"etl","nodes":[]}"#.into(), Code::InvalidInput, "nodes"),
            (r#"{"kind":"etl","nodes":{"a b":{"kind":"k"}}}"#.into(), Code::InvalidInput, "nodes.a b"),
            (r#"{"kind":"etl","held_open":true,"nodes":{"a":{"kind":"k"}}}"#.into(), Code::InvalidInput, "held_open"),
        ] {
            let refusal = read(&text).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (code, Some(field)), "{text}");
        }
    }
}
