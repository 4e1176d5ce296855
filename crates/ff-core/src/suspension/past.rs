//! The end of a suspension, and the record of an execution's last suspension after it.

use serde::{Deserialize, Serialize};

use super::{BoundWaitpoint, CountedSignal, OperatorDecision, ResumedBy, SuspendReason, Suspension};
use crate::event::{Event, EventKind};
use crate::execution::{DelayReason, Execution, Phase};
use crate::rule::change::Change;
use crate::types::{LeaseEpoch, SourceIdentity, SuspensionId, TimestampMs};

/// The last suspension of an execution. Its signals remain available until the next suspension or a replay, so that an
/// attempt that starts over still receives them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSuspension {
    pub id: SuspensionId,
    pub waitpoints: Vec<BoundWaitpoint>,
    /// Epoch of the lease under which the suspension was requested.
    pub lease_epoch: LeaseEpoch,
    pub ended_at: TimestampMs,
    #[serde(flatten)]
    pub ended: SuspensionEnd,
    /// True when a budget caused the suspension.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused_by_budget: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<String>,
    /// Signals for the worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<CountedSignal>,
}

/// The end of a suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum SuspensionEnd {
    /// The suspension never began, because its condition was already met.
    AlreadySatisfied,
    /// The condition was met.
    Satisfied,
    /// An operator ended the suspension.
    Operator {
        decision: OperatorDecision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<SourceIdentity>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The suspension timed out.
    TimedOut,
    /// The execution ended, and the suspension with it.
    ExecutionEnded,
}

impl PastSuspension {
    /// Creates the record of an ended suspension, with the signals for its worker.
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

    /// Discards the signals and the continuation, because a new run does not continue from the signals of an earlier
    /// one. The waitpoints are kept for a holder whose reply was lost.
    pub(crate) fn forget(&mut self) {
        self.ended = SuspensionEnd::ExecutionEnded;
        self.signals.clear();
        self.continuation = None;
    }

    /// Returns whether a budget caused the suspension and the execution has resumed.
    pub fn is_answered_pause(&self) -> bool {
        self.paused_by_budget && self.resumed_by().is_some()
    }

    /// Returns what resumed the execution; `None` when the execution ended instead.
    pub fn resumed_by(&self) -> Option<ResumedBy> {
        match self.ended {
            SuspensionEnd::AlreadySatisfied | SuspensionEnd::Satisfied => Some(ResumedBy::Signals),
            SuspensionEnd::Operator { .. } => Some(ResumedBy::Operator),
            SuspensionEnd::TimedOut => Some(ResumedBy::Timeout),
            SuspensionEnd::ExecutionEnded => None,
        }
    }
}

impl Execution {
    /// Resumes a suspended execution after a delay, with these signals for its worker.
    ///
    /// This also closes its waitpoints, because the suspension to which they belong no longer exists.
    pub(crate) fn release(
        &self,
        suspension: &Suspension,
        ended: SuspensionEnd,
        signals: Vec<CountedSignal>,
        delay_ms: u64,
        now: TimestampMs,
    ) -> Change {
        let phase = match delay_ms {
            0 => self.ready_phase(),
            ms => Phase::Delayed { until: now + ms, why: DelayReason::Resume },
        };
        let mut change = self.enter(phase, now);
        let past = PastSuspension::of(suspension, self.epoch(), ended, signals, now);
        change.events.extend(past.resumed_by().map(|by| Event::new(&self.id, now, EventKind::Released { by })));
        change.after.last_suspension = Some(past);
        change
    }
}

#[cfg(test)]
mod tests {
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::at;

    #[test]
    fn a_try_that_starts_over_still_finds_its_signals() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        fixture.deliver(&granted, "go", at(2));
        fixture.claim(at(3));
        fixture.pump(at(30_003));
        let reclaimed = fixture.claim(at(30_004));
        assert!(!reclaimed.resumed);
        assert_eq!(fixture.signal_names(&reclaimed), ["go"]);
    }
}
