//! A whole graph, as it is handed in.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::execution::Tags;
use crate::execution::contracts::{Start, SubmitArgs};
use crate::flow::{FlowState, Join, Passing};
use crate::limits;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::trace::TraceContext;
use crate::types::{FlowId, IdempotencyKey, Kind, LaneId, Namespace, NodeName, Priority, is_derived};

/// What is known of a flow without its graph. The id is the submitter's, so that a submission whose reply got lost can be
/// sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowHeader {
    pub flow_id: FlowId,
    /// What the id follows from, together with the namespace; none when it was drawn.
    pub idempotency_key: Option<IdempotencyKey>,
    pub namespace: Namespace,
    pub kind: Kind,
    pub tags: Tags,
    /// The submitter's trace, which the handlers of all members are told of. Not part of what makes two submissions the same.
    pub trace: Option<Box<TraceContext>>,
}

impl FlowHeader {
    /// A new flow of a kind, everything else by default.
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

    /// The same flow under an idempotency key: its id follows from the key and the namespace.
    pub fn keyed(mut self, key: IdempotencyKey) -> Self {
        self.idempotency_key = Some(key);
        self.follow_key();
        self
    }

    /// Makes the id the one that follows from the key, where there is a key.
    pub fn follow_key(&mut self) {
        if let Some(key) = &self.idempotency_key {
            self.flow_id = FlowId::for_key(&self.namespace, key);
        }
    }

    /// The id that a key leads to is for its own namespace: anybody can compute it, and whoever could name it would take the
    /// flow away from its owner, or learn whether it exists.
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
        if self.tags.len() > limits::TAGS {
            return Err(Refusal::over_limit(Code::LimitExceeded, "tags", limits::TAGS, self.tags.len()));
        }
        Ok(())
    }
}

/// One member, and how the edges into it join.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSpec {
    /// Stands for the execution within the flow: the same name in the same flow is the same execution.
    pub name: NodeName,
    pub lane: LaneId,
    pub kind: Kind,
    pub payload: Payload,
    pub priority: Priority,
    pub tags: Tags,
    /// Not before this moment, even when its upstreams have ended.
    pub start: Start,
    pub policy: Policy,
    pub join: Join,
}

impl NodeSpec {
    /// A member of a kind, everything else by default.
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

    /// Refuses what is over a limit, naming the node.
    pub fn check(&self) -> Result<(), Refusal> {
        let within = |refusal: Refusal| {
            let field = refusal.field.clone().unwrap_or_default();
            refusal.at(format!("nodes.{}.{field}", self.name))
        };
        self.work(&Namespace::default_name()).check().map_err(within)?;
        self.join.check(&format!("nodes.{}.join", self.name))
    }

    /// The same as work of its own.
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
            policy: self.policy.clone(),
            trace: None,
        }
    }
}

/// That one node waits for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EdgeSpec {
    pub upstream: NodeName,
    pub downstream: NodeName,
    pub passes: Option<Passing>,
}

/// A whole flow, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitFlowArgs {
    pub header: FlowHeader,
    pub nodes: Vec<NodeSpec>,
    pub edges: Vec<EdgeSpec>,
}

/// What became of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubmittedFlow {
    pub flow_id: FlowId,
    pub state: FlowState,
    pub nodes: u32,
    pub edges: u32,
    pub graph_revision: u64,
    /// True when the same flow was there already; nothing was written then.
    pub duplicate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
