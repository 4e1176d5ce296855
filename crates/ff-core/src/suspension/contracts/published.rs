//! Arguments and results of the published functions, with exactly the published fields. The other calls have further
//! arguments and results, whose types are in the neighbouring modules.

use std::fmt;

use crate::state::PublicState;
use crate::suspension::TimeoutBehavior;
use crate::token::WaitpointToken;
use crate::token::contracts::{Kids, RetiredKid, RotateSecretArgs, RotatedSecret};
use crate::types::{
    AttemptId, AttemptIndex, BadText, ExecutionId, Kid, LeaseEpoch, LeaseId, SuspensionId, TimestampMs, WaitpointId,
    WaitpointKey,
};

/// Arguments of `ff_suspend_execution`. The function signs the token of a new waitpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendExecutionArgs {
    pub execution_id: ExecutionId,
    pub attempt_index: AttemptIndex,
    pub attempt_id: AttemptId,
    pub lease_id: LeaseId,
    pub lease_epoch: LeaseEpoch,
    pub suspension_id: SuspensionId,
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    /// A known name or free text, at most 256 bytes.
    pub reason_code: String,
    /// A known name or free text, at most 256 bytes.
    pub requested_by: String,
    pub timeout_at: Option<TimestampMs>,
    pub resume_condition_json: String,
    /// Empty for the default policy.
    pub resume_policy_json: String,
    pub continuation_metadata_pointer: Option<String>,
    /// The waitpoint was created ahead by `ff_create_pending_waitpoint`.
    pub use_pending_waitpoint: bool,
    pub timeout_behavior: TimeoutBehavior,
}

/// Answer of `ff_suspend_execution`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuspendExecutionResult {
    /// The lease is released until the condition is met.
    Suspended {
        suspension_id: SuspensionId,
        waitpoint_id: WaitpointId,
        waitpoint_key: WaitpointKey,
        waitpoint_token: WaitpointToken,
    },
    /// Buffered signals met the condition: the worker keeps its lease.
    AlreadySatisfied {
        suspension_id: SuspensionId,
        waitpoint_id: WaitpointId,
        waitpoint_key: WaitpointKey,
        waitpoint_token: WaitpointToken,
    },
}

/// Arguments of `ff_resume_execution`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeExecutionArgs {
    pub execution_id: ExecutionId,
    /// `resume`, `approve`, `reject`, or free text, which means resume; at most 256 bytes.
    pub trigger_type: String,
    pub resume_delay_ms: u64,
}

/// Answer of `ff_resume_execution`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeExecutionResult {
    Resumed { public_state: PublicState },
}

/// Arguments of `ff_create_pending_waitpoint`. The function signs the token; the attempt must be the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatePendingWaitpointArgs {
    pub execution_id: ExecutionId,
    pub attempt_index: AttemptIndex,
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub expires_in_ms: u64,
}

/// Answer of `ff_create_pending_waitpoint`: the pending waitpoint with this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreatePendingWaitpointResult {
    Created { waitpoint_id: WaitpointId, waitpoint_key: WaitpointKey, waitpoint_token: WaitpointToken },
}

/// Arguments of `ff_expire_suspension`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpireSuspensionArgs {
    pub execution_id: ExecutionId,
}

/// Answer of `ff_expire_suspension`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpireSuspensionResult {
    /// The suspension timed out, and this behavior was applied.
    Expired { behavior_applied: TimeoutBehavior },
    /// There was nothing to do: `not_found_cleaned`, `not_suspended_cleaned`, `no_active_suspension_cleaned` or
    /// `not_yet_due`.
    AlreadySatisfied { reason: String },
}

/// Answer of `ff_close_waitpoint`: the waitpoint takes no more signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseWaitpointResult {
    Closed,
}

/// Arguments of `ff_rotate_waitpoint_hmac_secret`, for one partition. Callers repeat the call for each partition.
#[derive(Clone, PartialEq, Eq)]
pub struct RotateWaitpointHmacSecretArgs {
    pub new_kid: String,
    pub new_secret_hex: String,
    /// Time for which the previous secret still verifies.
    pub grace_ms: u64,
}

impl fmt::Debug for RotateWaitpointHmacSecretArgs {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { new_kid, grace_ms, .. } = self;
        let mut shown = f.debug_struct("RotateWaitpointHmacSecretArgs");
        shown.field("new_kid", new_kid).field("grace_ms", grace_ms).finish_non_exhaustive()
    }
}

impl From<&RotateSecretArgs> for RotateWaitpointHmacSecretArgs {
    fn from(RotateSecretArgs { kid, secret, grace_ms }: &RotateSecretArgs) -> Self {
        Self { new_kid: kid.to_string(), new_secret_hex: secret.expose_hex(), grace_ms: *grace_ms }
    }
}

/// Answer of `ff_rotate_waitpoint_hmac_secret`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RotateWaitpointHmacSecretOutcome {
    Rotated {
        previous_kid: Option<String>,
        new_kid: String,
        gc_count: usize,
    },
    /// The kid was already current with this secret.
    Noop {
        kid: String,
    },
}

impl TryFrom<RotateWaitpointHmacSecretOutcome> for RotatedSecret {
    type Error = BadText;

    fn try_from(outcome: RotateWaitpointHmacSecretOutcome) -> Result<Self, BadText> {
        Ok(match outcome {
            RotateWaitpointHmacSecretOutcome::Rotated { previous_kid, new_kid, gc_count } => Self::Rotated {
                previous_kid: previous_kid.as_deref().map(Kid::parse).transpose()?,
                new_kid: Kid::parse(&new_kid)?,
                gc_count,
            },
            RotateWaitpointHmacSecretOutcome::Noop { kid } => Self::Noop { kid: Kid::parse(&kid)? },
        })
    }
}

/// Arguments of `ff_list_waitpoint_hmac_kids`: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListWaitpointHmacKidsArgs;

/// Answer of `ff_list_waitpoint_hmac_kids`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitpointHmacKids {
    pub current_kid: Option<String>,
    pub verifying: Vec<VerifyingKid>,
}

/// A retired secret, and the time until which it verifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKid {
    pub kid: String,
    pub expires_at_ms: i64,
}

impl TryFrom<WaitpointHmacKids> for Kids {
    type Error = BadText;

    fn try_from(WaitpointHmacKids { current_kid, verifying }: WaitpointHmacKids) -> Result<Self, BadText> {
        let retired = |VerifyingKid { kid, expires_at_ms }| {
            Ok(RetiredKid { kid: Kid::parse(&kid)?, expires_at: TimestampMs(expires_at_ms) })
        };
        Ok(Self {
            current_kid: current_kid.as_deref().map(Kid::parse).transpose()?,
            verifying: verifying.into_iter().map(retired).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_does_not_show_its_secret() {
        let (new_kid, new_secret_hex) = ("k2".to_owned(), "5ec4e7".repeat(6));
        let args = RotateWaitpointHmacSecretArgs { new_kid, new_secret_hex, grace_ms: 7 };
        let shown = format!("{args:?}");
        assert!(shown.contains("k2") && !shown.contains("5ec4e7"), "{shown}");
    }
}
