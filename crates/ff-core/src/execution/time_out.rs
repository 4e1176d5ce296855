//! The attempt timeout: an attempt that ran too long counts as a failure.

use crate::change::Change;
use crate::entropy::Nonce;
use crate::execution::fail::Cause;
use crate::execution::{AttemptOutcome, Execution, Failure, FinishedBy};
use crate::lease::LeaseEnding;
use crate::types::{Kind, TimestampMs};

/// Ends the running attempt as a failure of category `timeout`; retries apply.
pub fn time_out(execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Change {
    let allowed = execution.policy.timeout_policy.attempt_timeout_ms.unwrap_or_default();
    let failure =
        Failure::by_engine(Kind::known(Failure::TIMEOUT), format!("the attempt ran longer than {allowed} ms"));
    let cause =
        Cause { outcome: AttemptOutcome::TimedOut, by: FinishedBy::AttemptTimeout, ending: |_| LeaseEnding::TimedOut };
    execution.retry_or_finish(failure, &cause, nonce, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::entropy::{Entropy, SeededEntropy};
    use crate::samples::{at, held, running};

    #[test]
    fn a_timeout_is_retried_like_a_failure() {
        let before = running();
        let change = time_out(&before, &SeededEntropy::new(1).nonce(), at(9));
        assert_eq!(change.after.retries, 1);
        assert_eq!(change.after.failure.as_ref().unwrap().category.as_str(), "timeout");
        let refusal = change.after.held_by(&held(&before), at(10)).unwrap_err();
        assert_eq!(refusal.code, Code::LeaseExpired);
    }

    #[test]
    fn categories_decide_about_timeouts_too() {
        let mut before = running();
        before.policy.retry_policy.retryable_categories = vec!["network".into()];
        assert!(time_out(&before, &SeededEntropy::new(1).nonce(), at(9)).after.is_finished());
    }
}
