//! Decisions of operators and approvers, on the wire.

use ff_core::signal::{Delivery, Effect, Signal, Source};
use ff_core::types::{ExecutionId, Namespace, SignalId, SignalName, TimestampMs};

use crate::object::answers;
use crate::query::{Limit, query};

answers! {
    /// The latest decisions of a namespace, newest first.
    #[derive(Debug)]
    pub struct Decisions {
        pub decisions: Vec<Decision>,
        /// True when there may be earlier decisions.
        pub more: bool,
    }

    /// A decision by an operator or through an approval link.
    #[derive(Debug)]
    pub struct Decision {
        pub at: TimestampMs,
        pub namespace: Namespace,
        pub execution_id: ExecutionId,
        pub signal_id: SignalId,
        /// `approved`, `rejected` or `resumed`.
        pub decision: SignalName,
        /// The operator, by name if known, or the bearer of a link.
        pub source: Source,
        pub effect: Effect,
    }
}

impl Decision {
    /// Returns the decision that a delivered signal carries, if any.
    pub fn of(delivery: Delivery) -> Option<Self> {
        let names = [Signal::APPROVED, Signal::REJECTED, Signal::RESUMED];
        names.contains(&delivery.name.as_str()).then_some(Self {
            at: delivery.position.at,
            namespace: delivery.namespace,
            execution_id: delivery.execution_id,
            signal_id: delivery.signal_id,
            decision: delivery.name,
            source: delivery.source,
            effect: delivery.effect,
        })
    }
}

query! {
    /// Parameters of the list of decisions.
    DecisionsQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Maximum number of results.
        limit: Limit,
    }
}
