//! The names of states: a projection of an execution's phase, never stored as the truth.

use serde::{Deserialize, Serialize};

/// Enumerations of names: one enum per table, with exactly one name per value.
macro_rules! text_enum {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[derive(schemars::JsonSchema)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::state::UnknownName;

            fn from_str(text: &str) -> Result<Self, $crate::state::UnknownName> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err($crate::state::UnknownName { expected: &[$($word),*] }),
                }
            }
        }
    )*};
}
pub(crate) use text_enum;

/// The error of a text that is not a value of its enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {}", expected.join(", "))]
pub struct UnknownName {
    pub expected: &'static [&'static str],
}

text_enum! {
    /// State of an execution.
    PublicState {
        Waiting "waiting",
        Delayed "delayed",
        RateLimited "rate_limited",
        WaitingChildren "waiting_children",
        Active "active",
        Suspended "suspended",
        Completed "completed",
        Failed "failed",
        Cancelled "cancelled",
        Expired "expired",
        Skipped "skipped",
    }

    /// How an execution ended, `none` while it has not.
    TerminalOutcome {
        None "none",
        Success "success",
        Failed "failed",
        Cancelled "cancelled",
        Expired "expired",
        Skipped "skipped",
    }

    /// Lifecycle phase of an execution.
    LifecyclePhase {
        Runnable "runnable",
        Active "active",
        Suspended "suspended",
        Terminal "terminal",
    }

    /// Whether it is leased.
    OwnershipState {
        Unowned "unowned",
        Leased "leased",
    }

    /// Whether it can be claimed.
    EligibilityState {
        EligibleNow "eligible_now",
        NotEligibleUntilTime "not_eligible_until_time",
        BlockedByDependencies "blocked_by_dependencies",
        BlockedByBudget "blocked_by_budget",
        BlockedByQuota "blocked_by_quota",
        BlockedByRoute "blocked_by_route",
        BlockedByLaneState "blocked_by_lane_state",
        BlockedByOperator "blocked_by_operator",
        NotApplicable "not_applicable",
    }

    /// What an execution waits for.
    BlockingReason {
        None "none",
        WaitingForWorker "waiting_for_worker",
        WaitingForRetryBackoff "waiting_for_retry_backoff",
        WaitingForResumeDelay "waiting_for_resume_delay",
        WaitingForDelay "waiting_for_delay",
        WaitingForSignal "waiting_for_signal",
        WaitingForApproval "waiting_for_approval",
        WaitingForCallback "waiting_for_callback",
        WaitingForToolResult "waiting_for_tool_result",
        WaitingForChildren "waiting_for_children",
        WaitingForBudget "waiting_for_budget",
        WaitingForQuota "waiting_for_quota",
        WaitingForCapableWorker "waiting_for_capable_worker",
        WaitingForLocalityMatch "waiting_for_locality_match",
        PausedByOperator "paused_by_operator",
        PausedByPolicy "paused_by_policy",
        PausedByFlowCancel "paused_by_flow_cancel",
    }

    /// State of the current attempt.
    AttemptState {
        None "none",
        PendingFirstAttempt "pending_first_attempt",
        RunningAttempt "running_attempt",
        AttemptInterrupted "attempt_interrupted",
        PendingRetryAttempt "pending_retry_attempt",
        PendingReplayAttempt "pending_replay_attempt",
        AttemptTerminal "attempt_terminal",
    }
}

impl PublicState {
    /// Returns whether this is a terminal state.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Expired | Self::Skipped)
    }
}

/// All dimensions of the state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StateVector {
    pub lifecycle_phase: LifecyclePhase,
    pub ownership_state: OwnershipState,
    pub eligibility_state: EligibilityState,
    pub blocking_reason: BlockingReason,
    pub terminal_outcome: TerminalOutcome,
    pub attempt_state: AttemptState,
    pub public_state: PublicState,
}
