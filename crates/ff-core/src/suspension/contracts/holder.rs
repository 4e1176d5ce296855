//! What the holder of a lease asks: to wait, or for a waitpoint ahead of waiting.

use serde::{Deserialize, Serialize};

use super::Timeout;
use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::check_message;
use crate::lease::Fence;
use crate::limits;
use crate::suspension::{Condition, ResumePolicy, SuspendReason, SuspendedBy, TimeoutBehavior, Waitpoint};
use crate::token::WaitpointToken;
use crate::types::{ExecutionId, IdempotencyKey, SignalId, SuspensionId, WaitpointId, WaitpointKey};

/// The holder lets go and waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// What to wait on; at least one. The first is the one shown first.
    pub waitpoints: Vec<WaitpointBinding>,
    pub condition: Condition,
    pub reason: SuspendReason,
    pub requested_by: SuspendedBy,
    pub timeout: Option<Timeout>,
    pub timeout_behavior: TimeoutBehavior,
    pub resume_policy: ResumePolicy,
    pub continuation: Option<String>,
    /// Under this key the first answer is given again, for as long as the key is remembered.
    pub idempotency_key: Option<IdempotencyKey>,
    pub dedup_ttl_ms: u64,
}

/// A waitpoint a suspension is to wait on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitpointBinding {
    /// A new one.
    Fresh { key: WaitpointKey },
    /// One made ahead.
    Pending { id: WaitpointId, key: WaitpointKey },
}

impl WaitpointBinding {
    pub fn key(&self) -> &WaitpointKey {
        match self {
            Self::Fresh { key } | Self::Pending { key, .. } => key,
        }
    }
}

impl SuspendArgs {
    /// A wait for one signal at a new waitpoint, everything else by default.
    pub fn new(execution_id: ExecutionId, fence: Fence, key: WaitpointKey) -> Self {
        Self {
            execution_id,
            fence,
            waitpoints: vec![WaitpointBinding::Fresh { key: key.clone() }],
            condition: Condition::Signal { waitpoint: key, name: None },
            reason: SuspendReason::WaitingForSignal,
            requested_by: SuspendedBy::Worker,
            timeout: None,
            timeout_behavior: TimeoutBehavior::Fail,
            resume_policy: ResumePolicy::default(),
            continuation: None,
            idempotency_key: None,
            dedup_ttl_ms: limits::SUSPEND_DEDUP_MS,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        match self.waitpoints.len() {
            0 => return Err(Refusal::invalid("waitpoints", "must not be empty")),
            1..=limits::WAITPOINTS => {}
            sent => return Err(Refusal::over_limit(Code::LimitExceeded, "waitpoints", limits::WAITPOINTS, sent)),
        }
        let keys: Vec<_> = self.waitpoints.iter().map(WaitpointBinding::key).collect();
        if let Some(nth) = (1..keys.len()).find(|nth| keys[..*nth].contains(&keys[*nth])) {
            return Err(Refusal::invalid(format!("waitpoints[{nth}].key"), "must be named once, is named twice"));
        }
        self.condition.check(&keys)?;
        if self.condition == Condition::TimeoutOnly && self.timeout.is_none() {
            return Err(Refusal::invalid("timeout_in_ms", "is required by the condition timeout_only"));
        }
        self.timeout.map_or(Ok(()), Timeout::check)?;
        self.resume_policy.check()?;
        check_message("continuation", self.continuation.as_deref())?;
        check_dedup_ttl(self.dedup_ttl_ms)
    }
}

/// Refuses to remember a key for longer than anything is remembered.
pub(crate) fn check_dedup_ttl(ttl_ms: u64) -> Result<(), Refusal> {
    if ttl_ms > limits::SPAN_MAX_MS {
        return Err(Refusal::over_limit(Code::LimitExceeded, "dedup_ttl_ms", limits::SPAN_MAX_MS, ttl_ms));
    }
    Ok(())
}

/// What became of the wish to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspended {
    pub suspension_id: SuspensionId,
    /// In the order they were asked for, each with its token. Nobody is told the tokens again but an operator.
    pub waitpoints: Vec<GrantedWaitpoint>,
    #[serde(flatten)]
    pub outcome: SuspendOutcome,
}

/// Whether the holder is to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SuspendOutcome {
    /// The lease is given up, and the execution waits.
    Suspended,
    /// What was to be waited for had arrived before. The lease is kept, and these are the signals.
    AlreadySatisfied { signals: Vec<SignalId> },
}

/// A waitpoint and what opens it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantedWaitpoint {
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub waitpoint_token: WaitpointToken,
}

impl From<&Waitpoint> for GrantedWaitpoint {
    fn from(waitpoint: &Waitpoint) -> Self {
        Self {
            waitpoint_id: waitpoint.id,
            waitpoint_key: waitpoint.key.clone(),
            waitpoint_token: waitpoint.token.clone(),
        }
    }
}

/// The holder wants a waitpoint ahead of waiting, so that it can hand out its token first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateWaitpointArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// Asked again for the key of one that still pends, it is the same waitpoint.
    pub key: WaitpointKey,
    /// How long it may wait for its suspension.
    pub expires_in_ms: u64,
}

impl CreateWaitpointArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.expires_in_ms {
            0 => Err(Refusal::invalid("expires_in_ms", "must be at least 1")),
            1..=limits::SPAN_MAX_MS => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "expires_in_ms", limits::SPAN_MAX_MS, sent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{held, running};

    fn args() -> SuspendArgs {
        SuspendArgs::new(running().id, held(&running()), WaitpointKey::parse("a").unwrap())
    }

    fn refused(args: &SuspendArgs) -> (Code, Option<String>) {
        let refusal = args.check().unwrap_err();
        (refusal.code, refusal.field)
    }

    #[test]
    fn a_suspension_waits_on_at_least_one_waitpoint_and_on_none_twice() {
        assert_eq!(args().check(), Ok(()));
        let none = SuspendArgs { waitpoints: vec![], ..args() };
        assert_eq!(refused(&none), (Code::InvalidInput, Some("waitpoints".into())));
        let twice = SuspendArgs { waitpoints: [args().waitpoints, args().waitpoints].concat(), ..args() };
        assert_eq!(refused(&twice), (Code::InvalidInput, Some("waitpoints[1].key".into())));
    }

    #[test]
    fn waitpoints_are_taken_at_their_limit_and_refused_one_past_it() {
        let many = |count: usize| {
            let keys = (0..count).map(|nth| WaitpointKey::parse(&format!("w{nth}")).unwrap());
            let waitpoints = keys.map(|key| WaitpointBinding::Fresh { key }).collect();
            SuspendArgs { waitpoints, condition: Condition::OperatorOnly, ..args() }
        };
        assert_eq!(many(limits::WAITPOINTS).check(), Ok(()));
        assert_eq!(refused(&many(limits::WAITPOINTS + 1)), (Code::LimitExceeded, Some("waitpoints".into())));
    }

    #[test]
    fn waiting_for_nothing_but_a_timeout_needs_one() {
        let never = SuspendArgs { condition: Condition::TimeoutOnly, ..args() };
        assert_eq!(refused(&never), (Code::InvalidInput, Some("timeout_in_ms".into())));
        assert_eq!(SuspendArgs { timeout: Some(Timeout::After(1)), ..never }.check(), Ok(()));
    }

    #[test]
    fn the_answer_shows_no_token() {
        let token = WaitpointToken::parse(&format!("k1:{}", "c0".repeat(32))).unwrap();
        let granted = GrantedWaitpoint {
            waitpoint_id: WaitpointId::new(),
            waitpoint_key: WaitpointKey::parse("a").unwrap(),
            waitpoint_token: token,
        };
        assert!(!format!("{granted:?}").contains("c0c0"));
        assert!(serde_json::to_string(&granted).unwrap().contains("c0c0"), "its holder is told");
    }
}
