//! The record of an execution, from which everything else about it is derived.

mod attempt;
mod definition;
mod info;
mod json;
mod phase;
mod retention;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Usage;
use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::{BlockDetail, Hold, Progress};
use crate::flow::Membership;
use crate::json::is_default;
use crate::lease::{Fence, LastLease, Lease, LeaseEnding, LeaseEvent};
use crate::rule::change::Change;
use crate::singleton::QueuePlace;
use crate::step::StepCounter;
use crate::suspension::{PastSuspension, PendingWaitpoint, SuspensionEnd};
use crate::types::{AttemptIndex, LaneId, LeaseEpoch, RequirementClass, TimestampMs};

pub use attempt::{Attempt, AttemptEnd, AttemptOutcome, AttemptSlot, Failure, Origin};
pub use definition::{ExecutionDefinition, Tags};
pub use phase::{Blocker, DelayReason, FinishedBy, Outcome, Phase};

/// One piece of work: its definition and its state.
///
/// The definition seldom changes. Its fields are accessed as if they were fields of the execution, and copies of an
/// execution share the definition until one of them changes it. It is stored separately from the state, which changes
/// with every transition: as JSON, an execution is read with its definition and written without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// When it was claimed for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<TimestampMs>,
    /// When its phase last changed.
    pub changed_at: TimestampMs,
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "AttemptSlot::is_initial")]
    pub attempt: AttemptSlot,
    /// Number of attempts started so far; also the index of the next attempt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempts_made: u32,
    /// Failures retried since submission or replay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retries: u32,
    /// Leases that expired since submission or replay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reclaims: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub replays: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_lease: Option<LastLease>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Waitpoints created ahead of a suspension that no suspension has used yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_waitpoints: Vec<PendingWaitpoint>,
    /// Number of signals received, including those before a replay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signals_taken: u32,
    /// Whether any attempt has written a frame to its stream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streamed: bool,
    /// Counter of its recorded steps; absent before the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepCounter>,
    /// Its usage; absent before the first report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<Usage>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_suspension: Option<Box<PastSuspension>>,
    /// Its place in a flow, when it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub membership: Option<Box<Membership>>,
    /// Its place among the executions of its singleton or debounce key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<Box<QueuePlace>>,
    /// The operator's hold. It applies whenever the execution is ready, until it is released or the execution is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Box<Hold>>,
    /// Details of its blocker, while it is blocked on its route, a quota or a budget, or assigned to a worker instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Box<BlockDetail>>,
    #[serde(skip_serializing, deserialize_with = "definition::shared")]
    pub definition: Arc<ExecutionDefinition>,
}

impl Deref for Execution {
    type Target = ExecutionDefinition;

    fn deref(&self) -> &ExecutionDefinition {
        &self.definition
    }
}

impl DerefMut for Execution {
    fn deref_mut(&mut self) -> &mut ExecutionDefinition {
        Arc::make_mut(&mut self.definition)
    }
}

impl Execution {
    /// Returns the name of its lane in indexes and keys.
    pub fn lane_key(&self) -> LaneId {
        self.lane.within(&self.namespace)
    }

    /// Returns its requirement class, which determines the queues it waits in.
    pub fn class(&self) -> RequirementClass {
        self.policy.class()
    }

    /// Returns whether it is part of a flow submission that was not visible when this record was written. It becomes
    /// visible together with its flow.
    pub fn is_staged(&self) -> bool {
        matches!(self.phase, Phase::Blocked { on: Blocker::Staging, .. })
    }

    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished { .. })
    }

    /// Returns the epoch of the current or last lease. The epoch of the next claim is one higher.
    pub fn epoch(&self) -> LeaseEpoch {
        match (&self.phase, &self.last_lease) {
            (Phase::Running { lease }, _) => lease.fence.lease_epoch,
            (_, Some(last)) => last.fence.lease_epoch,
            (_, None) => LeaseEpoch(0),
        }
    }

    /// Returns the lease if `fence` still holds it, otherwise a refusal with a reason that the former holder can act on.
    pub fn held_by(&self, fence: &Fence, now: TimestampMs) -> Result<&Lease, Refusal> {
        match &self.phase {
            Phase::Running { lease } if lease.fence != *fence => Err(Code::StaleLease.refusal()),
            Phase::Running { lease } if now >= lease.until => Err(Code::LeaseExpired.refusal()),
            Phase::Running { lease } => Ok(lease),
            _ => Err(self.refusal_for_former(fence)),
        }
    }

    /// Returns the ending of the lease of `fence`, if it was the last lease and the execution has none now.
    pub fn ended_for(&self, fence: &Fence) -> Option<LeaseEnding> {
        match (&self.phase, &self.last_lease) {
            (Phase::Running { .. }, _) => None,
            (_, Some(last)) if last.fence == *fence => Some(last.ended),
            _ => None,
        }
    }

    fn refusal_for_former(&self, fence: &Fence) -> Refusal {
        if self.last_lease.is_some() && self.ended_for(fence).is_none() {
            return Code::StaleLease.refusal();
        }
        match self.ended_for(fence) {
            Some(LeaseEnding::Expired | LeaseEnding::TimedOut) => Code::LeaseExpired.refusal(),
            Some(LeaseEnding::Revoked) => Code::LeaseRevoked.refusal(),
            _ => self.not_active(),
        }
    }

    /// Returns the refusal of an operation on an execution that is not active; it contains the present state.
    pub fn not_active(&self) -> Refusal {
        self.refused_as(Code::ExecutionNotActive)
    }

    /// Returns the refusal of an operation that the present state does not allow; it contains the state.
    pub(crate) fn refused_as(&self, code: Code) -> Refusal {
        let state = self.public_state();
        code.refusal().in_state(state).because(format!("the execution is {state}"))
    }

    /// Returns a change that changes nothing.
    pub fn unchanged(&self) -> Change {
        Change::of(self.clone())
    }

    /// Moves to `phase` and ends the lease with `ending`.
    ///
    /// `end` ends the attempt as well; without it the attempt stays open, to be resumed.
    pub(crate) fn end_lease(
        &self,
        phase: Phase,
        ending: LeaseEnding,
        end: Option<(AttemptOutcome, Option<Failure>, Origin)>,
        now: TimestampMs,
    ) -> Change {
        let (Phase::Running { lease }, AttemptSlot::Open(attempt)) = (&self.phase, &self.attempt) else {
            return self.enter(phase, now);
        };
        let mut change = self.enter(phase, now);
        change.after.last_lease = Some(LastLease { fence: lease.fence, ended: ending });
        let mut attempt = attempt.clone();
        attempt.ran_ms += now.since(lease.acquired_at);
        if ending.is_loss() || end.is_none() {
            change.leases.push(LeaseEvent {
                attempt_index: attempt.index,
                fence: lease.fence,
                holder: lease.holder.clone(),
                acquired_at: lease.acquired_at,
                ended_at: now,
                ended: ending,
                reason: None,
            });
        }
        match end {
            None => change.after.attempt = AttemptSlot::Open(attempt),
            Some((outcome, failure, next)) => {
                attempt.end = Some(AttemptEnd { at: now, outcome, failure: failure.clone() });
                change.attempts.push(attempt);
                change.after.attempt = AttemptSlot::Next(next);
                change.after.failure = failure.or(change.after.failure.take());
            }
        }
        change
    }

    /// Ends the execution, and with it an open attempt, suspension and waitpoints.
    pub(crate) fn finish(&self, end: End, now: TimestampMs) -> Change {
        let timed_out = end.by == FinishedBy::SuspensionTimeout;
        let phase = Phase::Finished { outcome: end.outcome, at: now, by: end.by };
        let last = self.last_attempt();
        let next = Origin::Replay { of: last, reason: None, requested_by: None };
        let mut change = match (&self.phase, &self.attempt) {
            (Phase::Running { .. }, AttemptSlot::Open(_)) => {
                self.end_lease(phase, end.lease, Some((end.attempt, end.failure.clone(), next)), now)
            }
            (_, AttemptSlot::Open(attempt)) => {
                let mut change = self.enter(phase, now);
                let mut attempt = attempt.clone();
                attempt.end = Some(AttemptEnd { at: now, outcome: end.attempt, failure: end.failure.clone() });
                change.attempts.push(attempt);
                change.after.attempt = AttemptSlot::Next(next);
                change.after.failure = end.failure.or(change.after.failure.take());
                change
            }
            (_, AttemptSlot::Next(_)) => {
                let mut change = self.enter(phase, now);
                change.after.attempt = AttemptSlot::Next(next);
                change
            }
        };
        if end.outcome == Outcome::Success {
            change.after.failure = None;
        }
        if let Phase::Suspended { suspension } = &self.phase {
            let ended = if timed_out { SuspensionEnd::TimedOut } else { SuspensionEnd::ExecutionEnded };
            change.after.last_suspension = Some(PastSuspension::of(suspension, self.epoch(), ended, vec![], now));
        }
        change.after.pending_waitpoints.clear();
        change.events.push(Event::new(&self.id, now, EventKind::Finished { outcome: end.outcome }));
        change
    }

    /// Moves to another phase and removes the details of the former blocker.
    pub(crate) fn enter(&self, phase: Phase, now: TimestampMs) -> Change {
        let mut change = self.unchanged();
        change.after.phase = phase;
        change.after.changed_at = now;
        change.after.blocked_by = None;
        change
    }

    pub(crate) fn last_attempt(&self) -> Option<AttemptIndex> {
        self.attempts_made.checked_sub(1).map(AttemptIndex)
    }

    /// Returns the index of the current or last attempt; zero before the first.
    pub(crate) fn current_index(&self) -> AttemptIndex {
        AttemptIndex(self.attempts_made.saturating_sub(1))
    }
}

/// The end of an execution: its outcome, and the endings of its lease and attempt, if there are any.
pub(crate) struct End {
    pub(crate) outcome: Outcome,
    pub(crate) by: FinishedBy,
    pub(crate) lease: LeaseEnding,
    pub(crate) attempt: AttemptOutcome,
    pub(crate) failure: Option<Failure>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::{CancelArgs, CompleteArgs};
    use crate::execution::{cancel, complete};
    use crate::lease::contracts::RevokeArgs;
    use crate::lease::{expire, revoke};
    use crate::rule::samples::{at, held, running, waiting};
    use crate::types::LeaseId;

    fn refused(execution: &Execution, fence: &Fence, now: TimestampMs) -> Code {
        execution.held_by(fence, now).unwrap_err().code
    }

    #[test]
    fn only_the_current_fence_in_time_holds() {
        let execution = running();
        let current = held(&execution);
        assert!(execution.held_by(&current, at(29_999)).is_ok());
        assert_eq!(refused(&execution, &current, at(30_000)), Code::LeaseExpired);
        for other in [
            Fence { lease_id: LeaseId::new(), ..current },
            Fence { lease_epoch: LeaseEpoch(0), ..current },
            Fence { lease_epoch: LeaseEpoch(2), ..current },
            Fence { attempt_id: crate::types::AttemptId::new(), ..current },
        ] {
            assert_eq!(refused(&execution, &other, at(1)), Code::StaleLease);
        }
    }

    #[test]
    fn a_former_holder_learns_how_its_lease_ended() {
        let execution = running();
        let fence = held(&execution);
        let expired = expire(&execution, at(30_000)).after;
        assert_eq!(refused(&expired, &fence, at(30_001)), Code::LeaseExpired);
        let args = RevokeArgs { execution_id: execution.id, lease_id: None, reason: None };
        let revoked = revoke(&execution, &args, at(5)).unwrap().after;
        assert_eq!(refused(&revoked, &fence, at(6)), Code::LeaseRevoked);
        let args = CancelArgs { execution_id: execution.id, reason: None, requested_by: None };
        let cancelled = cancel(&execution, &args, at(5)).unwrap().after;
        assert_eq!(refused(&cancelled, &fence, at(6)), Code::ExecutionNotActive);
        let args = CompleteArgs { execution_id: execution.id, fence, result: None };
        let completed = complete(&execution, &args, at(5)).unwrap().after;
        assert_eq!(refused(&completed, &fence, at(6)), Code::ExecutionNotActive);
    }

    #[test]
    fn an_older_fence_is_stale_whatever_became_of_the_execution() {
        let execution = running();
        let older = Fence { lease_epoch: LeaseEpoch(0), lease_id: LeaseId::new(), ..held(&execution) };
        assert_eq!(refused(&expire(&execution, at(30_000)).after, &older, at(30_001)), Code::StaleLease);
    }

    #[test]
    fn an_execution_that_was_never_claimed_is_not_active() {
        assert_eq!(refused(&waiting(), &held(&running()), at(1)), Code::ExecutionNotActive);
    }
}
