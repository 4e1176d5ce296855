//! Graphs as callers submit them: a whole flow, or an addition to one.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::Tags;
use crate::execution::contracts::{Start, SubmitArgs};
use crate::flow::{Join, PassMode};
use crate::limits;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::trace::TraceContext;
use crate::types::{ExecutionId, FlowId, IdempotencyKey, Kind, LaneId, Namespace, NodeName, Priority, is_derived};

/// A flow without its graph. The submitter chooses the id, so that it can repeat a submission whose reply was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowHeader {
    pub flow_id: FlowId,
    /// The key from which the id is derived, together with the namespace; none when the id is random.
    pub idempotency_key: Option<IdempotencyKey>,
    pub namespace: Namespace,
    pub kind: Kind,
    pub tags: Tags,
    /// The submitter's trace, passed on to the handlers of all members. Submissions that differ only in their traces
    /// are the same submission.
    pub trace: Option<Box<TraceContext>>,
}

impl FlowHeader {
    /// Returns the header of a new flow of this kind, with defaults and a random id.
    pub fn new(kind: Kind) -> Self {
        Self {
            flow_id: FlowId::new(),
            idempotency_key: None,
            namespace: Namespace::default_name(),
            kind,
            tags: Tags::new(),
            trace: None,
        }
    }

    /// Sets the idempotency key, and derives the id from the key and the namespace.
    pub fn keyed(mut self, key: IdempotencyKey) -> Self {
        self.idempotency_key = Some(key);
        self.derive_id();
        self
    }

    /// Derives the id from the idempotency key, if there is one.
    pub fn derive_id(&mut self) {
        if let Some(key) = &self.idempotency_key {
            self.flow_id = FlowId::for_key(&self.namespace, key);
        }
    }

    /// Refuses an id that does not match the idempotency key, a derived id without its key, and too many tags. Derived
    /// ids are reserved for the namespace of the key: any caller can compute such an id, and could otherwise take the
    /// flow away from its owner or find out whether it exists.
    pub fn check(&self) -> Result<(), Refusal> {
        match &self.idempotency_key {
            Some(key) if self.flow_id != FlowId::for_key(&self.namespace, key) => {
                return Err(Refusal::invalid("flow_id", "must be the id that follows from the idempotency key"));
            }
            None if is_derived(self.flow_id.as_uuid()) => {
                let why = "follows from an idempotency key; send the key, or an id that was drawn at random";
                return Err(Refusal::invalid("flow_id", why));
            }
            _ => {}
        }
        check_limit(Code::LimitExceeded, "tags", limits::TAGS, self.tags.len())
    }
}

/// A member of a graph, and the join of the edges into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Identifies the execution within the flow: the same name in the same flow is the same execution.
    pub name: NodeName,
    pub lane: LaneId,
    pub kind: Kind,
    pub payload: Payload,
    pub priority: Priority,
    pub tags: Tags,
    /// The earliest start, even if the upstreams end before.
    pub start: Start,
    pub policy: Policy,
    pub join: Join,
}

impl NodeSpec {
    /// Returns a member of this kind, with defaults.
    pub fn new(name: NodeName, kind: Kind, payload: Payload) -> Self {
        let work = SubmitArgs::new(kind, payload);
        Self {
            name,
            lane: work.lane,
            kind: work.kind,
            payload: work.payload,
            priority: work.priority,
            tags: work.tags,
            start: work.start,
            policy: work.policy,
            join: Join::AllOf,
        }
    }

    /// Refuses values over a limit, naming the node.
    pub fn check(&self) -> Result<(), Refusal> {
        let within = |refusal: Refusal| {
            let field = refusal.field.clone().unwrap_or_default();
            refusal.at(format!("nodes.{}.{field}", self.name))
        };
        self.work(&Namespace::default_name()).check().map_err(within)?;
        self.join.check(&format!("nodes.{}.join", self.name))
    }

    /// Returns the submission of the same work as an execution outside a flow.
    pub(crate) fn work(&self, namespace: &Namespace) -> SubmitArgs {
        SubmitArgs {
            uuid: uuid::Uuid::nil(),
            namespace: namespace.clone(),
            lane: self.lane.clone(),
            kind: self.kind.clone(),
            payload: self.payload.clone(),
            priority: self.priority,
            tags: self.tags.clone(),
            idempotency_key: None,
            start: self.start,
            key_rule: None,
            policy: self.policy.clone(),
            trace: None,
        }
    }
}

/// An edge: the downstream node waits for the upstream node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EdgeSpec {
    pub upstream: NodeName,
    pub downstream: NodeName,
    pub passes: Option<PassMode>,
}

/// A whole flow. Its nodes and edges may be in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubmitFlowArgs {
    pub header: FlowHeader,
    pub nodes: Vec<NodeSpec>,
    pub edges: Vec<EdgeSpec>,
}

/// Refuses a call with too many nodes or edges, or with a node that exceeds a limit.
pub(crate) fn check_call(nodes: &[NodeSpec], edges: usize) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, "nodes", limits::FLOW_CALL_NODES, nodes.len())?;
    check_limit(Code::LimitExceeded, "edges", limits::FLOW_CALL_EDGES, edges)?;
    nodes.iter().try_for_each(NodeSpec::check)
}

/// A member of a flow, by its id or its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberRef {
    Node(NodeName),
    Execution(ExecutionId),
}

/// An edge to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeAddition {
    pub upstream: MemberRef,
    pub downstream: MemberRef,
    pub passes: Option<PassMode>,
}

/// The join of the edges into a member. It cannot change once the member has an edge of the current round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinSpec {
    pub member: MemberRef,
    pub join: Join,
}

impl std::fmt::Display for MemberRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(name) => name.fmt(f),
            Self::Execution(id) => id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::fixture::spec;
    use crate::flow::member_id;
    use crate::partition::PartitionConfig;

    fn header(namespace: &str) -> FlowHeader {
        let namespace = Namespace::parse(namespace).unwrap();
        FlowHeader { namespace, ..FlowHeader::new(Kind::parse("etl").unwrap()) }
    }

    fn nightly() -> IdempotencyKey {
        IdempotencyKey::parse("nightly").unwrap()
    }

    #[test]
    fn an_id_that_follows_from_a_key_is_taken_with_the_key_alone() {
        let theirs = header("acme").keyed(nightly());
        assert_eq!(theirs.check(), Ok(()));
        for thief in [
            FlowHeader { flow_id: theirs.flow_id, ..header("other") },
            FlowHeader { flow_id: theirs.flow_id, ..header("acme") },
            FlowHeader { namespace: header("other").namespace, ..theirs.clone() },
            FlowHeader { flow_id: FlowId::new(), ..theirs },
        ] {
            assert_eq!(thief.check().unwrap_err().field.as_deref(), Some("flow_id"));
        }
        assert_eq!(header("other").check(), Ok(()), "a drawn id is anybody's");
    }

    #[test]
    fn the_members_of_a_flow_under_a_key_cannot_be_named_ahead_of_it() {
        let flow = header("acme").keyed(nightly()).flow_id;
        let member = member_id(&flow, &NodeName::parse("a").unwrap(), &PartitionConfig::default());
        let named =
            SubmitArgs { uuid: member.uuid(), ..SubmitArgs::new(Kind::parse("k").unwrap(), Payload::default()) };
        assert_eq!(named.check().unwrap_err().field.as_deref(), Some("uuid"));
    }

    #[test]
    fn a_part_is_taken_at_its_limit_and_refused_one_past_it() {
        let nodes = |count| (0..count).map(|n| spec(&format!("n{n}"))).collect::<Vec<_>>();
        assert_eq!(check_call(&nodes(limits::FLOW_CALL_NODES), limits::FLOW_CALL_EDGES), Ok(()));
        let refusal = check_call(&nodes(limits::FLOW_CALL_NODES + 1), 0).unwrap_err();
        assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("nodes"), Some((20, 21))));
        let refusal = check_call(&[], limits::FLOW_CALL_EDGES + 1).unwrap_err();
        assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("edges"), Some((20, 21))));
    }
}
