//! Expiry: a holder that does not renew its lease loses the execution, which then waits for another worker.

use crate::event::{Event, EventKind};
use crate::execution::{AttemptOutcome, End, Execution, Failure, FinishedBy, Origin, Outcome};
use crate::lease::LeaseEnding;
use crate::rule::change::Change;
use crate::types::{Kind, TimestampMs};

/// Ends an expired lease, so that another worker can claim the execution. After as many expiries as the policy allows,
/// the execution fails: work that kills every worker must not do so for ever.
pub fn expire(execution: &Execution, now: TimestampMs) -> Change {
    let cap = execution.policy.max_reclaim_count;
    if execution.reclaims >= cap {
        let failure = Failure::by_engine(
            Kind::known(Failure::MAX_RECLAIMS_EXCEEDED),
            format!("the lease expired {} times; the policy allows {cap}", execution.reclaims + 1),
        );
        return execution.finish(
            End {
                outcome: Outcome::Failed,
                by: FinishedBy::ReclaimCap,
                lease: LeaseEnding::Expired,
                attempt: AttemptOutcome::LeaseExpired,
                failure: Some(failure),
            },
            now,
        );
    }
    let next = Origin::Reclaim { of: execution.current_index() };
    let end = (AttemptOutcome::LeaseExpired, None, next);
    let mut change = execution.end_lease(execution.ready_phase(), LeaseEnding::Expired, Some(end), now);
    change.after.reclaims += 1;
    change.events.push(Event::new(&execution.id, now, EventKind::LeaseExpired));
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::execution::Phase;
    use crate::rule::samples::{at, held, running};

    #[test]
    fn an_expired_execution_waits_again_and_its_holder_is_refused() {
        let before = running();
        let change = expire(&before, at(30_000));
        assert_eq!(change.after.phase, Phase::Waiting);
        assert_eq!(change.after.reclaims, 1);
        assert_eq!(change.attempts.len(), 1);
        assert_eq!(change.leases.len(), 1);
        let refusal = change.after.held_by(&held(&before), at(30_001)).unwrap_err();
        assert_eq!(refusal.code, Code::LeaseExpired);
    }

    #[test]
    fn work_that_kills_its_workers_is_given_up() {
        let mut before = running();
        before.policy.max_reclaim_count = 2;
        before.reclaims = 1;
        assert!(!expire(&before, at(30_000)).after.is_finished());
        before.reclaims = 2;
        let change = expire(&before, at(30_000));
        assert!(matches!(
            change.after.phase,
            Phase::Finished { outcome: Outcome::Failed, by: FinishedBy::ReclaimCap, .. }
        ));
        assert_eq!(change.after.failure.unwrap().category.as_str(), "max_reclaims_exceeded");
    }
}
