//! The words of suspensions.

use crate::state::{BlockingReason, words};

words! {
    /// Why an execution is suspended, as its holder says.
    SuspendReason {
        WaitingForSignal "waiting_for_signal",
        WaitingForApproval "waiting_for_approval",
        WaitingForCallback "waiting_for_callback",
        WaitingForToolResult "waiting_for_tool_result",
        WaitingForOperatorReview "waiting_for_operator_review",
        PausedByPolicy "paused_by_policy",
        PausedByBudget "paused_by_budget",
        StepBoundary "step_boundary",
        ManualPause "manual_pause",
    }

    /// On whose account an execution is suspended.
    SuspendedBy {
        Worker "worker",
        Operator "operator",
        Policy "policy",
        SystemTimeoutPolicy "system_timeout_policy",
    }

    /// What happens to a suspension that was not ended in time.
    TimeoutBehavior {
        /// The execution fails.
        Fail "fail",
        /// The execution is cancelled.
        Cancel "cancel",
        /// The execution expires.
        Expire "expire",
        /// The execution goes on, with a signal that says so.
        AutoResume "auto_resume",
        /// The execution stays suspended, in the hands of an operator.
        Escalate "escalate",
    }

    /// What an operator says to a suspended execution. Each ends the suspension; the worker is told which it was.
    OperatorDecision {
        Resume "resume",
        Approve "approve",
        Reject "reject",
    }

    /// What made a suspended execution go on.
    ResumedBy {
        Signals "signals",
        Operator "operator",
        Timeout "timeout",
    }
}

impl From<SuspendReason> for BlockingReason {
    fn from(reason: SuspendReason) -> Self {
        match reason {
            SuspendReason::WaitingForSignal | SuspendReason::StepBoundary => Self::WaitingForSignal,
            SuspendReason::WaitingForApproval => Self::WaitingForApproval,
            SuspendReason::WaitingForCallback => Self::WaitingForCallback,
            SuspendReason::WaitingForToolResult => Self::WaitingForToolResult,
            SuspendReason::WaitingForOperatorReview | SuspendReason::ManualPause => Self::PausedByOperator,
            SuspendReason::PausedByPolicy => Self::PausedByPolicy,
            SuspendReason::PausedByBudget => Self::WaitingForBudget,
        }
    }
}
