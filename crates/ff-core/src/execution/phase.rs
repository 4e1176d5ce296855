//! Where an execution stands: one enum that carries its data. The words of the public state are a projection of it.

use serde::{Deserialize, Serialize};

use crate::execution::{AttemptSlot, Execution, Origin};
use crate::lease::Lease;
use crate::state::{
    AttemptState, BlockingReason, EligibilityState, LifecyclePhase, OwnershipState, PublicState, StateVector,
    TerminalOutcome,
};
use crate::suspension::Suspension;
use crate::types::TimestampMs;

/// Where an execution stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Phase {
    /// Not before a moment.
    Delayed { until: TimestampMs, why: DelayReason },
    /// For a worker.
    Waiting,
    /// Held by a worker.
    Running { lease: Lease },
    /// For something else to happen first; and not before a moment, when it has one.
    Blocked {
        on: Blocker,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<TimestampMs>,
    },
    /// For people or the outside world.
    Suspended { suspension: Box<Suspension> },
    /// At its end.
    Finished {
        outcome: Outcome,
        at: TimestampMs,
        #[serde(default, skip_serializing_if = "FinishedBy::is_holder")]
        by: FinishedBy,
    },
}

/// Why an execution is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayReason {
    /// Its submitter asked for it.
    Submitted,
    /// A failed try waits for its next.
    Backoff,
    /// Its holder put it off.
    Holder,
    /// Its suspension is over, and it wants to go on later.
    Resume,
}

/// The blocker of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    /// Its upstreams in its flow.
    Dependencies,
    /// The rest of the submission it is a part of.
    Staging,
    /// Its dependents, which learn first that it runs again.
    Reopening,
    /// A worker that meets its requirements.
    Route,
    /// A quota that is used up.
    Quota,
    /// A budget that is used up.
    Budget,
    /// An operator's hold.
    Operator,
    /// The worker instance it is assigned to.
    Assignment,
}

impl Blocker {
    /// Those by which an execution that is ready is kept from being claimed.
    pub const OF_ADMISSION: [Blocker; 5] = [Self::Route, Self::Quota, Self::Budget, Self::Operator, Self::Assignment];

    /// Whether it is one of admission, and not one of the flow.
    pub fn is_admission(self) -> bool {
        Self::OF_ADMISSION.contains(&self)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Failed,
    Cancelled,
    Expired,
    Skipped,
}

/// What ended an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Where it goes when nothing of its own keeps it from being claimed.
    pub fn ready_phase(&self) -> Phase {
        match (&self.hold, self.behind()) {
            (Some(_), _) => Phase::Blocked { on: Blocker::Operator, until: None },
            (None, Some(_)) => Phase::Blocked { on: Blocker::Quota, until: None },
            (None, None) => Phase::Waiting,
        }
    }

    /// Whether nothing but admission keeps it from being claimed.
    pub fn is_ready(&self) -> bool {
        match self.phase {
            Phase::Blocked { on, .. } => on.is_admission(),
            _ => self.phase == Phase::Waiting,
        }
    }

    /// Whether it is ready, or will be at a moment.
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

    /// Every dimension of the state, in the words the API uses.
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

    /// Its blocking reason.
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
    use crate::due::fire;
    use crate::execution::{Execution, expire};
    use crate::fixture::ExecutionFixture;
    use crate::samples::{at, running, waiting};
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
    fn a_suspension_is_told_in_the_words_of_its_reason() {
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
        let nonce = crate::entropy::Entropy::nonce(&crate::entropy::SeededEntropy::new(1));
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
