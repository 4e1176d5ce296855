//! Revoking: an operator ends a holder's lease, and the execution waits for another worker.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptOutcome, Execution, Origin, Phase};
use crate::lease::LeaseEnding;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, LeaseEpoch, LeaseId, TimestampMs};

/// A request to revoke the lease of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeArgs {
    pub execution_id: ExecutionId,
    /// The only lease to revoke, because the holder may have changed meanwhile. Any lease when absent.
    pub lease_id: Option<LeaseId>,
    pub reason: Option<String>,
}

/// The lease is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RevokedLease {
    pub lease_epoch: LeaseEpoch,
    /// True when it was already revoked.
    pub already: bool,
}

impl ExecutionCommand for RevokeArgs {
    type Reply = RevokedLease;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RevokedLease>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = revoke(before, self, at.now)?;
        let lease_epoch = change.after.last_lease.as_ref().map_or(LeaseEpoch(0), |last| last.fence.lease_epoch);
        let already = change.after == *before;
        Ok(Decision::of(RevokedLease { lease_epoch, already }, [change]))
    }
}

/// Ends the current lease. A repeated call for a lease that is already revoked changes nothing.
pub fn revoke(execution: &Execution, args: &RevokeArgs, now: TimestampMs) -> Result<Change, Refusal> {
    let named = |lease_id| args.lease_id.is_none_or(|wanted| wanted == lease_id);
    match (&execution.phase, &execution.last_lease) {
        (Phase::Running { lease }, _) if named(lease.fence.lease_id) => {
            let next = Origin::Reclaim { of: execution.current_index() };
            let end = (AttemptOutcome::LeaseRevoked, None, next);
            let mut change = execution.end_lease(execution.ready_phase(), LeaseEnding::Revoked, Some(end), now);
            change.leases.iter_mut().for_each(|lease| lease.reason.clone_from(&args.reason));
            change.events.push(Event::new(&execution.id, now, EventKind::LeaseRevoked));
            Ok(change)
        }
        (Phase::Running { .. }, _) => Err(Code::StaleLease.refusal()),
        (_, Some(last)) if last.ended == LeaseEnding::Revoked && named(last.fence.lease_id) => {
            Ok(execution.unchanged())
        }
        _ => {
            let state = execution.public_state();
            Err(Code::NoActiveLease.refusal().in_state(state).because(format!("the execution is {state}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::{at, held, running, waiting};

    fn args(lease_id: Option<LeaseId>) -> RevokeArgs {
        RevokeArgs { execution_id: running().id, lease_id, reason: None }
    }

    #[test]
    fn a_revoked_holder_is_refused() {
        let before = running();
        let change = revoke(&before, &args(None), at(5)).unwrap();
        assert_eq!(change.after.phase, Phase::Waiting);
        let refusal = change.after.held_by(&held(&before), at(6)).unwrap_err();
        assert_eq!(refusal.code, Code::LeaseRevoked);
    }

    #[test]
    fn the_history_says_why_a_lease_was_revoked() {
        let args = RevokeArgs { reason: Some("the machine is going away".into()), ..args(None) };
        let change = revoke(&running(), &args, at(5)).unwrap();
        assert_eq!(change.leases[0].reason, args.reason);
    }

    #[test]
    fn revoking_twice_is_one_revocation() {
        let first = revoke(&running(), &args(None), at(5)).unwrap();
        let again = revoke(&first.after, &args(None), at(6)).unwrap();
        assert_eq!(again, first.after.unchanged());
    }

    #[test]
    fn another_lease_than_the_named_one_is_left_alone() {
        let refusal = revoke(&running(), &args(Some(LeaseId::new())), at(5)).unwrap_err();
        assert_eq!(refusal.code, Code::StaleLease);
    }

    #[test]
    fn an_execution_without_a_lease_cannot_be_revoked() {
        assert_eq!(revoke(&waiting(), &args(None), at(5)).unwrap_err().code, Code::NoActiveLease);
    }
}
