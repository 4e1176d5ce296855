//! The nodes of a flow, and the joins of the edges into a node.

use std::time::Duration;

use ff_core::contracts::{NodeSpec, SubmitArgs};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::flow::{Join, OnSatisfied};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{NodeName, TimestampMs};
use serde::Serialize;

use crate::{Error, Job};

/// A builder for a join. By default the other upstreams keep running once the join has fired.
///
/// ```
/// use ff_sdk::{Flow, Node, any_of};
///
/// let fastest = Flow::new("search")
///     .node("here", Node::empty("look"))
///     .node("there", Node::empty("look"))
///     .node("tell", Node::empty("tell"))
///     .after_each("tell", ["here", "there"])
///     .join(any_of().cancel_remaining());
/// assert!(fastest.build().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joins(Join);

/// Requires that every upstream succeeds, which is the default of a node.
pub fn all_of() -> Joins {
    Joins(Join::AllOf)
}

/// Requires that one upstream succeeds.
pub fn any_of() -> Joins {
    Joins(Join::AnyOf { on_satisfied: OnSatisfied::LetRun })
}

/// Requires that `k` upstreams succeed.
pub fn quorum(k: u32) -> Joins {
    Joins(Join::Quorum { k, on_satisfied: OnSatisfied::LetRun })
}

impl Joins {
    /// Cancels upstreams that no other member needs, once the join has fired. `all_of` leaves none to cancel.
    pub fn cancel_remaining(self) -> Self {
        self.on_satisfied(OnSatisfied::CancelRemaining)
    }

    /// Lets the other upstreams keep running once the join has fired.
    pub fn let_run(self) -> Self {
        self.on_satisfied(OnSatisfied::LetRun)
    }

    fn on_satisfied(self, on_satisfied: OnSatisfied) -> Self {
        Self(match self.0 {
            Join::AllOf => Join::AllOf,
            Join::AnyOf { .. } => Join::AnyOf { on_satisfied },
            Join::Quorum { k, .. } => Join::Quorum { k, on_satisfied },
        })
    }
}

impl From<Joins> for Join {
    fn from(joins: Joins) -> Self {
        joins.0
    }
}

/// Work of a kind; the flow gives it a name. An invalid field is reported when the flow is submitted, with the name of the
/// node.
#[derive(Debug)]
pub struct Node {
    job: Job,
}

impl Node {
    /// Creates a node with a JSON payload.
    pub fn new(kind: &str, payload: &impl Serialize) -> Self {
        Self { job: Job::new(kind, payload) }
    }

    /// Creates a node without a payload; its input comes from its upstreams.
    pub fn empty(kind: &str) -> Self {
        Self::with_payload(kind, Payload::default())
    }

    /// Creates a node with any payload.
    pub fn with_payload(kind: &str, payload: Payload) -> Self {
        Self { job: Job::with_payload(kind, payload) }
    }

    /// Sets the lane in which the node is queued.
    pub fn lane(self, lane: &str) -> Self {
        Self { job: self.job.lane(lane) }
    }

    /// Sets the priority within the lane: a higher one runs first.
    pub fn priority(self, priority: i64) -> Self {
        Self { job: self.job.priority(priority) }
    }

    /// Adds a tag, by which the node can be found.
    pub fn tag(self, key: &str, value: &str) -> Self {
        Self { job: self.job.tag(key, value) }
    }

    /// Delays the start until this much time has passed since the flow was submitted, even when all upstreams have ended.
    pub fn delay(self, delay: Duration) -> Self {
        Self { job: self.job.delay(delay) }
    }

    /// Delays the start until this time of the store's clock, even when all upstreams have ended.
    pub fn start_at(self, at: TimestampMs) -> Self {
        Self { job: self.job.start_at(at) }
    }

    /// Sets the policy: retries, timeouts and deadline.
    pub fn policy(self, policy: Policy) -> Self {
        Self { job: self.job.policy(policy) }
    }

    /// Requires a capability of the worker; see [`Job::require`].
    pub fn require(self, capability: &str) -> Self {
        Self { job: self.job.require(capability) }
    }

    /// Returns the node under a name, or its first error with the name of the node.
    pub(crate) fn build(self, name: NodeName) -> Result<NodeSpec, Error> {
        let SubmitArgs { lane, kind, payload, priority, tags, start, policy, .. } =
            self.job.build().map_err(|error| within(error, &name))?;
        Ok(NodeSpec { name, lane, kind, payload, priority, tags, start, policy, join: Join::AllOf })
    }
}

fn within(error: Error, name: &NodeName) -> Error {
    match error {
        Error::Engine(EngineError::Refused(refusal)) => {
            let field = refusal.field.clone().unwrap_or_default();
            refusal.at(format!("nodes.{name}.{field}")).into()
        }
        Error::Encode(error) => {
            Refusal::invalid(format!("nodes.{name}.payload"), format!("cannot be written as JSON: {error}")).into()
        }
        other => other,
    }
}
