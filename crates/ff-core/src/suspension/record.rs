//! The record of a current suspension. It is part of the execution's phase: an execution that is not suspended has
//! none, so every end of the suspension closes its waitpoints.

use serde::{Deserialize, Serialize};

use super::{
    Condition, CountedSignal, ResumePolicy, SignalMatch, SignalSelection, SuspendReason, SuspendedBy, Tally,
    TimeoutBehavior, Weight,
};
use crate::limits;
use crate::types::{SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// A current suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    pub id: SuspensionId,
    pub at: TimestampMs,
    pub reason: SuspendReason,
    pub requested_by: SuspendedBy,
    /// The waitpoints, in the order in which the holder named them; at least one.
    pub waitpoints: Vec<BoundWaitpoint>,
    pub condition: Condition,
    #[serde(default, skip_serializing_if = "ResumePolicy::is_default")]
    pub resume_policy: ResumePolicy,
    /// Time of the timeout; `None` without a timeout and after an escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<TimestampMs>,
    pub timeout_behavior: TimeoutBehavior,
    /// Time of the escalation to an operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated_at: Option<TimestampMs>,
    /// The holder's note on where to continue. The engine does not interpret it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<String>,
    #[serde(default)]
    pub tally: Tally,
    /// Signals that arrived and did not count, if the worker receives all signals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<CountedSignal>,
}

/// A waitpoint of a suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BoundWaitpoint {
    pub id: WaitpointId,
    pub key: WaitpointKey,
}

impl Suspension {
    /// Counts a signal towards the condition.
    pub(crate) fn weigh(&mut self, signal: &SignalMatch<'_>) -> Weight {
        let weight = self.tally.weigh(&self.condition, signal);
        let keep =
            self.resume_policy.signals == SignalSelection::All && self.uncounted.len() < limits::CONDITION_SIGNALS;
        if weight != Weight::Counted && keep {
            let (signal_id, payload_bytes) = (signal.signal_id, signal.payload_bytes);
            self.uncounted.push(CountedSignal { signal_id, payload_bytes, counts_as: None });
        }
        weight
    }

    pub(crate) fn is_met(&self) -> bool {
        self.tally.meets(&self.condition)
    }

    /// Returns the signals that the worker would receive if the suspension ended now: those that met the condition or,
    /// if it is not met, those that have counted so far.
    pub(crate) fn resumption_signals(&self) -> Vec<CountedSignal> {
        let mut signals = self.tally.satisfiers(&self.condition);
        let everything = self.resume_policy.signals == SignalSelection::All;
        if everything || !self.is_met() {
            add_new(&mut signals, self.tally.counted());
        }
        if everything {
            add_new(&mut signals, self.uncounted.iter());
        }
        signals
    }
}

/// Adds the signals that are not in the list yet.
fn add_new<'c>(signals: &mut Vec<CountedSignal>, more: impl Iterator<Item = &'c CountedSignal>) {
    for counted in more {
        if signals.iter().all(|known| known.signal_id != counted.signal_id) {
            signals.push(CountedSignal { counts_as: None, ..counted.clone() });
        }
    }
}
