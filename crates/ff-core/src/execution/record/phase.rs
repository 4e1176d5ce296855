//! The phase of an execution: one enum that carries its data. The public state is derived from it.

use serde::{Deserialize, Serialize};

use crate::execution::{AttemptSlot, Execution, Origin};
use crate::lease::Lease;
use crate::state::{
    AttemptState, BlockingReason, EligibilityState, LifecyclePhase, OwnershipState, PublicState, StateVector,
    TerminalOutcome,
};
use crate::suspension::Suspension;
use crate::types::TimestampMs;

/// The phase of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Phase {
    /// Not ready before a given time.
    Delayed { until: TimestampMs, why: DelayReason },
    /// Ready, and waiting for a worker.
    Waiting,
    /// Leased to a worker.
    Running { lease: Lease },
    /// Kept from running by a blocker. Unblocked at `until` at the latest, if that is set.
    Blocked {
        on: Blocker,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<TimestampMs>,
    },
    /// Waiting for signals or for an operator.
    Suspended { suspension: Box<Suspension> },
    /// Ended.
    Finished {
        outcome: Outcome,
        at: TimestampMs,
        #[serde(default, skip_serializing_if = "FinishedBy::is_holder")]
        by: FinishedBy,
    },
}

/// The reason for a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayReason {
    /// The submission requested a later start.
    Submitted,
    /// The backoff before a retry.
    Backoff,
    /// Its holder delayed it.
    Holder,
    /// A delay between the end of its suspension and its resumption.
    Resume,
}

/// The blocker of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    /// Its upstreams in its flow, or the children it waits for.
    Dependencies,
    /// The submission of its flow, which is not completely written yet.
    Staging,
    /// Its dependents, which must be notified of its replay before it runs.
    Reopening,
    /// The lack of a worker that meets its requirements.
    Route,
    /// A quota that is used up, or another execution of its singleton key that must end first.
    Quota,
    /// A budget that is used up.
    Budget,
    /// An operator's hold.
    Operator,
    /// Its assignment to a worker instance: no other worker may claim it.
    Assignment,
}

impl Blocker {
    /// The blockers that keep an otherwise ready execution from being claimed.
    pub const ADMISSION: [Blocker; 5] = [Self::Route, Self::Quota, Self::Budget, Self::Operator, Self::Assignment];

    /// Returns whether this is a blocker of admission, and not of the flow.
    pub fn is_admission(self) -> bool {
        Self::ADMISSION.contains(&self)
    }

    /// The blocking reason of an execution with this blocker.
    pub fn reason(self) -> BlockingReason {
        match self {
            Self::Dependencies | Self::Staging | Self::Reopening => BlockingReason::WaitingForChildren,
            Self::Route => BlockingReason::WaitingForCapableWorker,
            Self::Quota => BlockingReason::WaitingForQuota,
            Self::Budget => BlockingReason::WaitingForBudget,
            Self::Operator => BlockingReason::PausedByOperator,
            Self::Assignment => BlockingReason::WaitingForLocalityMatch,
        }
    }

    fn public_state(self) -> PublicState {
        match self {
            Self::Dependencies | Self::Staging | Self::Reopening => PublicState::WaitingChildren,
            Self::Quota | Self::Budget => PublicState::RateLimited,
            Self::Route | Self::Operator | Self::Assignment => PublicState::Waiting,
        }
    }

    fn eligibility(self) -> EligibilityState {
        match self {
            Self::Dependencies | Self::Staging | Self::Reopening => EligibilityState::BlockedByDependencies,
            Self::Route | Self::Assignment => EligibilityState::BlockedByRoute,
            Self::Quota => EligibilityState::BlockedByQuota,
            Self::Budget => EligibilityState::BlockedByBudget,
            Self::Operator => EligibilityState::BlockedByOperator,
        }
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Failed,
    Cancelled,
    Expired,
    Skipped,
}

/// What ended an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FinishedBy {
    #[default]
    Holder,
    Cancel {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
    },
    Deadline,
    AttemptTimeout,
    ReclaimCap,
    SuspensionTimeout,
    /// Its upstreams: its join could no longer be met.
    Dependencies,
    /// The cancellation of its flow.
    FlowCancel,
    /// A join that fired; no other dependent needed it.
    Join,
}

impl FinishedBy {
    fn is_holder(&self) -> bool {
        *self == Self::Holder
    }
}

impl From<Outcome> for TerminalOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Expired => Self::Expired,
            Outcome::Skipped => Self::Skipped,
        }
    }
}

impl From<Outcome> for PublicState {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Completed,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Expired => Self::Expired,
            Outcome::Skipped => Self::Skipped,
        }
    }
}

impl Execution {
    /// Returns the phase of an execution that has no other blocker: blocked if an operator holds it or another execution
    /// of its singleton key must end first, otherwise waiting.
    pub fn ready_phase(&self) -> Phase {
        match (&self.hold, self.behind()) {
            (Some(_), _) => Phase::Blocked { on: Blocker::Operator, until: None },
            (None, Some(_)) => Phase::Blocked { on: Blocker::Quota, until: None },
            (None, None) => Phase::Waiting,
        }
    }

    /// Returns whether the execution is waiting, or blocked only by admission.
    pub fn is_ready(&self) -> bool {
        match self.phase {
            Phase::Blocked { on, .. } => on.is_admission(),
            _ => self.phase == Phase::Waiting,
        }
    }

    pub(crate) fn is_ready_or_delayed(&self) -> bool {
        self.is_ready() || matches!(self.phase, Phase::Delayed { .. })
    }

    pub fn public_state(&self) -> PublicState {
        match &self.phase {
            Phase::Delayed { .. } => PublicState::Delayed,
            Phase::Waiting => PublicState::Waiting,
            Phase::Blocked { on, .. } => on.public_state(),
            Phase::Running { .. } => PublicState::Active,
            Phase::Suspended { .. } => PublicState::Suspended,
            Phase::Finished { outcome, .. } => (*outcome).into(),
        }
    }

    /// Returns every dimension of the state, with the values of the API.
    pub fn state_vector(&self) -> StateVector {
        StateVector {
            lifecycle_phase: self.lifecycle_phase(),
            ownership_state: match self.phase {
                Phase::Running { .. } => OwnershipState::Leased,
                _ => OwnershipState::Unowned,
            },
            eligibility_state: match self.phase {
                Phase::Waiting => EligibilityState::EligibleNow,
                Phase::Delayed { .. } => EligibilityState::NotEligibleUntilTime,
                Phase::Blocked { on, .. } => on.eligibility(),
                Phase::Running { .. } | Phase::Suspended { .. } | Phase::Finished { .. } => {
                    EligibilityState::NotApplicable
                }
            },
            blocking_reason: self.blocking_reason(),
            terminal_outcome: match self.phase {
                Phase::Finished { outcome, .. } => outcome.into(),
                _ => TerminalOutcome::None,
            },
            attempt_state: self.attempt_state(),
            public_state: self.public_state(),
        }
    }

    fn lifecycle_phase(&self) -> LifecyclePhase {
        match self.phase {
            Phase::Delayed { .. } | Phase::Waiting | Phase::Blocked { .. } => LifecyclePhase::Runnable,
            Phase::Running { .. } => LifecyclePhase::Active,
            Phase::Suspended { .. } => LifecyclePhase::Suspended,
            Phase::Finished { .. } => LifecyclePhase::Terminal,
        }
    }

    pub fn blocking_reason(&self) -> BlockingReason {
        match &self.phase {
            Phase::Waiting => BlockingReason::WaitingForWorker,
            Phase::Delayed { why: DelayReason::Backoff, .. } => BlockingReason::WaitingForRetryBackoff,
            Phase::Delayed { why: DelayReason::Resume, .. } => BlockingReason::WaitingForResumeDelay,
            Phase::Delayed { .. } => BlockingReason::WaitingForDelay,
            Phase::Blocked { on, .. } => on.reason(),
            Phase::Suspended { suspension } if suspension.escalated_at.is_some() => BlockingReason::PausedByOperator,
            Phase::Suspended { suspension } => (&suspension.reason).into(),
            Phase::Running { .. } | Phase::Finished { .. } => BlockingReason::None,
        }
    }

    fn attempt_state(&self) -> AttemptState {
        match (&self.phase, &self.attempt) {
            (Phase::Running { .. }, _) => AttemptState::RunningAttempt,
            (Phase::Finished { .. }, _) if self.attempts_made == 0 => AttemptState::None,
            (Phase::Finished { .. }, _) => AttemptState::AttemptTerminal,
            (_, AttemptSlot::Open(_)) | (_, AttemptSlot::Next(Origin::Reclaim { .. })) => {
                AttemptState::AttemptInterrupted
            }
            (_, AttemptSlot::Next(Origin::Initial)) => AttemptState::PendingFirstAttempt,
            (_, AttemptSlot::Next(Origin::Retry { .. })) => AttemptState::PendingRetryAttempt,
            (_, AttemptSlot::Next(Origin::Replay { .. })) => AttemptState::PendingReplayAttempt,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::execution::{Execution, expire};
    use crate::rule::due::fire;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running, waiting};
    use crate::suspension::SuspendReason;
    use crate::suspension::contracts::SuspendArgs;

    fn words(execution: &Execution) -> [&'static str; 7] {
        let state = execution.state_vector();
        [
            state.lifecycle_phase.as_str(),
            state.ownership_state.as_str(),
            state.eligibility_state.as_str(),
            state.blocking_reason.as_str(),
            state.terminal_outcome.as_str(),
            state.attempt_state.as_str(),
            state.public_state.as_str(),
        ]
    }

    #[test]
    fn the_blocking_reason_follows_from_the_suspend_reason() {
        for (reason, word) in [
            (SuspendReason::WaitingForApproval, "waiting_for_approval"),
            (SuspendReason::StepBoundary, "waiting_for_signal"),
            (SuspendReason::ManualPause, "paused_by_operator"),
            (SuspendReason::PausedByBudget, "waiting_for_budget"),
        ] {
            let mut fixture = ExecutionFixture::running(at(0));
            let args = SuspendArgs { reason, ..fixture.suspension("a") };
            fixture.ask(args, at(1)).unwrap();
            let expected = ["suspended", "unowned", "not_applicable", word, "none", "attempt_interrupted", "suspended"];
            assert_eq!(words(fixture.execution()), expected);
        }
    }

    #[test]
    fn each_phase_has_its_words() {
        assert_eq!(
            words(&waiting()),
            ["runnable", "unowned", "eligible_now", "waiting_for_worker", "none", "pending_first_attempt", "waiting"]
        );
        assert_eq!(
            words(&running()),
            ["active", "leased", "not_applicable", "none", "none", "running_attempt", "active"]
        );
        let nonce = crate::backend::entropy::Entropy::nonce(&crate::backend::entropy::SeededEntropy::new(1));
        assert_eq!(
            words(&fire(&running(), &nonce, at(30_000)).unwrap().after),
            ["runnable", "unowned", "eligible_now", "waiting_for_worker", "none", "attempt_interrupted", "waiting"]
        );
        assert_eq!(
            words(&expire(&running(), at(5)).after),
            ["terminal", "unowned", "not_applicable", "none", "expired", "attempt_terminal", "expired"]
        );
        assert_eq!(
            words(&expire(&waiting(), at(5)).after),
            ["terminal", "unowned", "not_applicable", "none", "expired", "none", "expired"]
        );
    }
}
