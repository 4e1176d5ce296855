//! The record of the last suspension once it is over.

use serde::{Deserialize, Serialize};

use super::{BoundWaitpoint, CountedSignal, OperatorDecision, ResumedBy, SuspendReason, Suspension};
use crate::types::{LeaseEpoch, SourceIdentity, SuspensionId, TimestampMs};

/// The last suspension of an execution. It hands its signals on until the next one or a replay, so that a try that starts
/// over still finds its signals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSuspension {
    pub id: SuspensionId,
    pub waitpoints: Vec<BoundWaitpoint>,
    /// The lease it was asked for under.
    pub lease_epoch: LeaseEpoch,
    pub ended_at: TimestampMs,
    #[serde(flatten)]
    pub ended: SuspensionEnd,
    /// Whether it was because of a budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused_by_budget: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<String>,
    /// The signals the worker gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<CountedSignal>,
}

/// How a suspension ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum SuspensionEnd {
    /// It never began: its condition had been met before.
    AlreadySatisfied,
    /// Its condition was met.
    Satisfied,
    /// An operator ended it.
    Operator {
        decision: OperatorDecision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<SourceIdentity>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was not ended in time.
    TimedOut,
    /// The execution ended, and it with it.
    ExecutionEnded,
}

impl PastSuspension {
    /// A suspension that is over, with the signals its worker is handed.
    pub(crate) fn of(
        suspension: &Suspension,
        lease_epoch: LeaseEpoch,
        ended: SuspensionEnd,
        signals: Vec<CountedSignal>,
        now: TimestampMs,
    ) -> Box<Self> {
        Box::new(Self {
            id: suspension.id,
            waitpoints: suspension.waitpoints.clone(),
            lease_epoch,
            ended_at: now,
            ended,
            paused_by_budget: suspension.reason == SuspendReason::PausedByBudget,
            continuation: suspension.continuation.clone(),
            signals,
        })
    }

    /// Hands nothing on any more: a new life does not go on from an earlier one's signals. Its waitpoints are kept,
    /// for the holder whose reply got lost.
    pub(crate) fn forget(&mut self) {
        self.ended = SuspensionEnd::ExecutionEnded;
        self.signals.clear();
        self.continuation = None;
    }

    /// Whether it was because of a budget, and the execution may go on.
    pub fn is_answered_pause(&self) -> bool {
        self.paused_by_budget && self.resumed_by().is_some()
    }

    /// The cause that made the execution go on; none when it ended instead.
    pub fn resumed_by(&self) -> Option<ResumedBy> {
        match self.ended {
            SuspensionEnd::AlreadySatisfied | SuspensionEnd::Satisfied => Some(ResumedBy::Signals),
            SuspensionEnd::Operator { .. } => Some(ResumedBy::Operator),
            SuspensionEnd::TimedOut => Some(ResumedBy::Timeout),
            SuspensionEnd::ExecutionEnded => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::ExecutionFixture;
    use crate::samples::at;

    #[test]
    fn a_try_that_starts_over_still_finds_its_signals() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        fixture.deliver(&granted, "go", at(2));
        fixture.claim(at(3));
        fixture.pump(at(30_003));
        let reclaimed = fixture.claim(at(30_004));
        assert!(!reclaimed.resumed);
        assert_eq!(fixture.handed(&reclaimed), ["go"]);
    }
}
