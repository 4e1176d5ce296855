//! Failing: the holder reports a failure, or the attempt ran too long, and the policy decides between a retry and the end of
//! the execution.

use serde::{Deserialize, Serialize};

use crate::backend::entropy::Nonce;
use crate::engine_error::Refusal;
use crate::event::{Event, EventKind};
use crate::execution::{AttemptOutcome, DelayReason, End, Execution, Failure, FinishedBy, Origin, Outcome, Phase};
use crate::lease::{Fence, LeaseEnding};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, Kind, TimestampMs};

/// Fails the running attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub failure: Failure,
}

/// What happens after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum FailedAttempt {
    RetryScheduled { retry_at: TimestampMs },
    Failed,
}

impl FailedAttempt {
    /// The reply to a holder whose lease ended in failure.
    pub fn from_ending(ending: LeaseEnding) -> Option<Self> {
        match ending {
            LeaseEnding::Failed { retry_at: Some(retry_at) } => Some(Self::RetryScheduled { retry_at }),
            LeaseEnding::Failed { retry_at: None } => Some(Self::Failed),
            _ => None,
        }
    }
}

impl ExecutionCommand for FailArgs {
    type Reply = FailedAttempt;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("message", Some(&self.failure.message))
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<FailedAttempt>, Stop> {
        let change = fail(found(view, &self.execution_id)?, self, &at.nonce, at.now)?;
        let ending = change.after.last_lease.as_ref().map(|last| last.ended);
        let failed = ending.and_then(FailedAttempt::from_ending).unwrap_or(FailedAttempt::Failed);
        Ok(Decision::of(failed, [change]))
    }
}

/// Ends the running attempt with a failure. The execution is retried after a backoff, or ends.
fn fail(execution: &Execution, args: &FailArgs, nonce: &Nonce, now: TimestampMs) -> Result<Change, Refusal> {
    if let Some(LeaseEnding::Failed { .. }) = execution.ended_for(&args.fence) {
        return Ok(execution.unchanged());
    }
    execution.held_by(&args.fence, now)?;
    let cause = Cause {
        outcome: AttemptOutcome::Failure,
        by: FinishedBy::Holder,
        ending: |retry_at| LeaseEnding::Failed { retry_at },
    };
    Ok(execution.retry_or_finish(args.failure.clone(), &cause, nonce, now))
}

/// Ends the running attempt as a failure of category `timeout`; retries apply.
pub fn time_out(execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Change {
    let allowed = execution.policy.timeout_policy.attempt_timeout_ms.unwrap_or_default();
    let failure =
        Failure::by_engine(Kind::known(Failure::TIMEOUT), format!("the attempt ran longer than {allowed} ms"));
    let cause =
        Cause { outcome: AttemptOutcome::TimedOut, by: FinishedBy::AttemptTimeout, ending: |_| LeaseEnding::TimedOut };
    execution.retry_or_finish(failure, &cause, nonce, now)
}

/// The outcome of a failed attempt, and the endings of its lease and, without a retry, of its execution.
struct Cause {
    outcome: AttemptOutcome,
    by: FinishedBy,
    ending: fn(Option<TimestampMs>) -> LeaseEnding,
}

impl Execution {
    /// Schedules the next attempt when the policy allows a retry of this failure, otherwise ends the execution.
    fn retry_or_finish(&self, failure: Failure, cause: &Cause, nonce: &Nonce, now: TimestampMs) -> Change {
        if !self.policy.retry_policy.allows(&failure, self.retries) {
            let end = End {
                outcome: Outcome::Failed,
                by: cause.by.clone(),
                lease: (cause.ending)(None),
                attempt: cause.outcome,
                failure: Some(failure),
            };
            return self.finish(end, now);
        }
        let retry_at = now + self.policy.retry_policy.backoff.delay_ms(self.retries, nonce.jitter());
        let backoff = Phase::Delayed { until: retry_at, why: DelayReason::Backoff };
        let phase = if retry_at > now { backoff } else { self.ready_phase() };
        let next = Origin::Retry { of: self.current_index() };
        let end = (cause.outcome, Some(failure), next);
        let mut change = self.end_lease(phase, (cause.ending)(Some(retry_at)), Some(end), now);
        change.after.retries += 1;
        change.events.push(Event::new(&self.id, now, EventKind::RetryScheduled { at: retry_at }));
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::entropy::{Entropy, SeededEntropy};
    use crate::engine_error::Code;
    use crate::policy::Backoff;
    use crate::rule::samples::{at, held, running};

    fn args(category: &str, permanent: bool) -> FailArgs {
        let execution = running();
        let failure = Failure { category: Kind::parse(category).unwrap(), message: "no".into(), permanent };
        FailArgs { execution_id: execution.id, fence: held(&execution), failure }
    }

    fn nonce() -> Nonce {
        SeededEntropy::new(1).nonce()
    }

    fn with_fixed_backoff(retries: u32) -> Execution {
        let mut execution = running();
        execution.retries = retries;
        execution.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 500, jitter: false };
        execution
    }

    #[test]
    fn a_failure_waits_for_its_backoff_and_then_tries_again() {
        let change = fail(&with_fixed_backoff(0), &args("error", false), &nonce(), at(100)).unwrap();
        assert_eq!(change.after.phase, Phase::Delayed { until: at(600), why: DelayReason::Backoff });
        assert_eq!(change.after.retries, 1);
    }

    #[test]
    fn the_last_retry_is_the_last() {
        assert!(!fail(&with_fixed_backoff(2), &args("error", false), &nonce(), at(100)).unwrap().after.is_finished());
        assert!(fail(&with_fixed_backoff(3), &args("error", false), &nonce(), at(100)).unwrap().after.is_finished());
    }

    #[test]
    fn a_permanent_failure_is_not_retried() {
        assert!(fail(&with_fixed_backoff(0), &args("error", true), &nonce(), at(100)).unwrap().after.is_finished());
    }

    #[test]
    fn only_named_categories_are_retried() {
        let mut execution = with_fixed_backoff(0);
        execution.policy.retry_policy.retryable_categories = vec!["network".into()];
        assert!(!fail(&execution, &args("network", false), &nonce(), at(1)).unwrap().after.is_finished());
        assert!(fail(&execution, &args("bug", false), &nonce(), at(1)).unwrap().after.is_finished());
    }

    #[test]
    fn a_repeated_failure_is_answered_as_the_first_time() {
        let first = fail(&with_fixed_backoff(0), &args("error", false), &nonce(), at(100)).unwrap();
        let again = fail(&first.after, &args("error", false), &nonce(), at(200)).unwrap();
        assert_eq!(again, first.after.unchanged());
        let ended = again.after.last_lease.unwrap().ended;
        assert_eq!(FailedAttempt::from_ending(ended), Some(FailedAttempt::RetryScheduled { retry_at: at(600) }));
    }

    #[test]
    fn a_timeout_is_retried_like_a_failure() {
        let before = running();
        let change = time_out(&before, &nonce(), at(9));
        assert_eq!(change.after.retries, 1);
        assert_eq!(change.after.failure.as_ref().unwrap().category.as_str(), "timeout");
        let refusal = change.after.held_by(&held(&before), at(10)).unwrap_err();
        assert_eq!(refusal.code, Code::LeaseExpired);
    }

    #[test]
    fn categories_decide_about_timeouts_too() {
        let mut before = running();
        before.policy.retry_policy.retryable_categories = vec!["network".into()];
        assert!(time_out(&before, &nonce(), at(9)).after.is_finished());
    }
}
