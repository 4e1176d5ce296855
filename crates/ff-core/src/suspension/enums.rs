//! Enumerations of suspensions.

use crate::state::{BlockingReason, text_enum};
use crate::types::{BadText, FreeText};

/// Enumerations that callers can extend: a known name has a meaning, any other text is stored as it is.
macro_rules! open_text_enum {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($variant,)*
            /// A text of the caller's own.
            Other(FreeText),
        }

        impl $name {
            /// Every known name, in the order of the table.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(text) => text.as_str(),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadText;

            fn from_str(text: &str) -> Result<Self, BadText> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => FreeText::parse(text).map(Self::Other),
                }
            }
        }

        crate::types::as_text!($name);

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::types::schema::open_text_enum(&[$($word),*])
            }
        }
    )*};
}

open_text_enum! {
    /// Reason for a suspension, as the holder states it.
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

    /// The party that requested a suspension.
    SuspendedBy {
        Worker "worker",
        Operator "operator",
        Policy "policy",
        SystemTimeoutPolicy "system_timeout_policy",
    }
}

text_enum! {
    /// What happens when a suspension times out.
    TimeoutBehavior {
        /// The execution fails.
        Fail "fail",
        /// The execution is cancelled.
        Cancel "cancel",
        /// The execution expires.
        Expire "expire",
        /// The execution resumes, with a signal that reports the timeout.
        AutoResume "auto_resume",
        /// The execution stays suspended until an operator decides.
        Escalate "escalate",
    }

    /// An operator's decision about a suspended execution. Each ends the suspension, and the worker gets it.
    OperatorDecision {
        Resume "resume",
        Approve "approve",
        Reject "reject",
    }

    /// What resumed a suspended execution.
    ResumedBy {
        Signals "signals",
        Operator "operator",
        Timeout "timeout",
    }
}

impl From<&SuspendReason> for BlockingReason {
    fn from(reason: &SuspendReason) -> Self {
        match reason {
            SuspendReason::WaitingForSignal | SuspendReason::StepBoundary | SuspendReason::Other(_) => {
                Self::WaitingForSignal
            }
            SuspendReason::WaitingForApproval => Self::WaitingForApproval,
            SuspendReason::WaitingForCallback => Self::WaitingForCallback,
            SuspendReason::WaitingForToolResult => Self::WaitingForToolResult,
            SuspendReason::WaitingForOperatorReview | SuspendReason::ManualPause => Self::PausedByOperator,
            SuspendReason::PausedByPolicy => Self::PausedByPolicy,
            SuspendReason::PausedByBudget => Self::WaitingForBudget,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_word_has_its_meaning_and_another_text_is_kept() {
        for reason in SuspendReason::ALL {
            assert_eq!(reason.as_str().parse().as_ref(), Ok(reason));
        }
        let other: SuspendReason = "waiting for the moon".parse().unwrap();
        assert_eq!(serde_json::to_string(&other).unwrap(), "\"waiting for the moon\"");
        assert_eq!(serde_json::from_str::<SuspendReason>("\"waiting for the moon\"").unwrap(), other);
        assert_eq!(BlockingReason::from(&other), BlockingReason::WaitingForSignal);
        assert_eq!("operator".parse(), Ok(SuspendedBy::Operator));
    }

    #[test]
    fn a_text_of_ones_own_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!("v".repeat(256).parse::<SuspendedBy>().is_ok());
        assert_eq!("v".repeat(257).parse::<SuspendedBy>(), Err(BadText::TooLong { limit: 256, sent: 257 }));
        assert_eq!("".parse::<SuspendReason>(), Err(BadText::Empty));
    }
}
