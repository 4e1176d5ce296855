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
use crate::types::{FlowId, Kind, LaneId, Namespace, NodeName, Priority};

/// What is known of a flow without its graph. The id is the submitter's, so that a submission whose reply got lost can be
/// sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowHeader {
    pub flow_id: FlowId,
    pub namespace: Namespace,
    pub kind: Kind,
    pub tags: Tags,
    /// The submitter's trace, which the handlers of all members are told of. Not part of what makes two submissions the same.
    pub trace: Option<Box<TraceContext>>,
}

impl FlowHeader {
    /// A new flow of a kind, everything else by default.
    pub fn new(kind: Kind) -> Self {
        Self { flow_id: FlowId::new(), namespace: Namespace::default_name(), kind, tags: Tags::new(), trace: None }
    }

    pub fn check(&self) -> Result<(), Refusal> {
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
