//! How the edges into a node join.

use std::time::Duration;

use ff_core::contracts::{NodeSpec, SubmitArgs};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::flow::{Join, OnSatisfied};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{NodeName, TimestampMs};
use serde::Serialize;

use crate::{Error, Job};

/// A join, put together. Unless said otherwise the other upstreams run on once it has fired.
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

/// Every upstream succeeds, which is how edges join that nothing is said of.
pub fn all_of() -> Joins {
    Joins(Join::AllOf)
}

/// One upstream succeeds.
pub fn any_of() -> Joins {
    Joins(Join::AnyOf { on_satisfied: OnSatisfied::LetRun })
}

/// So many upstreams succeed.
pub fn quorum(k: u32) -> Joins {
    Joins(Join::Quorum { k, on_satisfied: OnSatisfied::LetRun })
}

impl Joins {
    /// Once it has fired, upstreams that no other member needs are cancelled. `all_of` leaves none to cancel.
    pub fn cancel_remaining(self) -> Self {
        self.on_satisfied(OnSatisfied::CancelRemaining)
    }

    /// Once it has fired, the other upstreams run on.
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

/// Work of a kind, without a name yet: the flow it is put into gives it one. An invalid field is reported when the flow
/// is submitted, with the name of the node.
#[derive(Debug)]
pub struct Node {
    job: Job,
}

impl Node {
    /// Work with a JSON payload.
    pub fn new(kind: &str, payload: &impl Serialize) -> Self {
        Self { job: Job::new(kind, payload) }
    }

    /// Work without a payload: its input comes from its upstreams.
    pub fn empty(kind: &str) -> Self {
        Self::with_payload(kind, Payload::default())
    }

    /// Work with any payload.
    pub fn with_payload(kind: &str, payload: Payload) -> Self {
        Self { job: Job::with_payload(kind, payload) }
    }

    /// Which queue it waits in.
    pub fn lane(self, lane: &str) -> Self {
        Self { job: self.job.lane(lane) }
    }

    /// How much it matters within its lane: higher goes first.
    pub fn priority(self, priority: i64) -> Self {
        Self { job: self.job.priority(priority) }
    }

    /// A label to find it by.
    pub fn tag(self, key: &str, value: &str) -> Self {
        Self { job: self.job.tag(key, value) }
    }

    /// Not before this much time has passed since the flow was submitted, even when its upstreams have ended.
    pub fn delay(self, delay: Duration) -> Self {
        Self { job: self.job.delay(delay) }
    }

    /// Not before this moment of the store's clock, even when its upstreams have ended.
    pub fn start_at(self, at: TimestampMs) -> Self {
        Self { job: self.job.start_at(at) }
    }

    /// How it wants to be treated: retries, timeouts, deadline.
    pub fn policy(self, policy: Policy) -> Self {
        Self { job: self.job.policy(policy) }
    }

    /// A capability its worker must have, as [`Job::require`] has it.
    pub fn require(self, capability: &str) -> Self {
        Self { job: self.job.require(capability) }
    }

    /// The node under a name, or the first thing that is wrong with it, named after the node.
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
