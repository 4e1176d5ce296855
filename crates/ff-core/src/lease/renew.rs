//! Renewing: a holder that is still working extends its lease.

use serde::{Deserialize, Serialize};

use super::claim::check_ttl;
use crate::engine_error::Refusal;
use crate::execution::{Execution, Phase};
use crate::lease::{Fence, Lease};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TimestampMs};

/// A request of a holder to renew its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// Duration from now. When absent, the duration stays the same.
    pub lease_ttl_ms: Option<u64>,
}

/// The lease is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RenewedLease {
    pub lease_expires_at: TimestampMs,
}

impl ExecutionCommand for RenewArgs {
    type Reply = RenewedLease;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        self.lease_ttl_ms.map_or(Ok(()), check_ttl)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RenewedLease>, Stop> {
        let (renewed, change) = renew(found(view, &self.execution_id)?, self, at.now)?;
        Ok(Decision::of(renewed, [change]))
    }
}

/// Moves the lease's end to a TTL from now. A repeated call is harmless: it only moves the end again.
fn renew(execution: &Execution, args: &RenewArgs, now: TimestampMs) -> Result<(RenewedLease, Change), Refusal> {
    let lease = execution.held_by(&args.fence, now)?;
    let ttl_ms = args.lease_ttl_ms.unwrap_or(lease.ttl_ms);
    let lease = Lease { until: now + ttl_ms, ttl_ms, ..lease.clone() };
    let renewed = RenewedLease { lease_expires_at: lease.until };
    let mut change = execution.unchanged();
    change.after.phase = Phase::Running { lease };
    Ok((renewed, change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::rule::samples::{at, held, running};

    fn args(ttl: Option<u64>) -> RenewArgs {
        RenewArgs { execution_id: running().id, fence: held(&running()), lease_ttl_ms: ttl }
    }

    #[test]
    fn a_renewal_counts_from_now() {
        let (renewed, change) = renew(&running(), &args(None), at(20_000)).unwrap();
        let Phase::Running { lease } = change.after.phase else { panic!("no longer running") };
        assert_eq!((lease.until, renewed.lease_expires_at), (at(50_000), at(50_000)));
    }

    #[test]
    fn a_renewal_may_change_the_ttl_for_good() {
        let (_, once) = renew(&running(), &args(Some(5_000)), at(20_000)).unwrap();
        let (_, again) = renew(&once.after, &args(None), at(24_000)).unwrap();
        let Phase::Running { lease } = again.after.phase else { panic!("no longer running") };
        assert_eq!(lease.until, at(29_000));
    }

    #[test]
    fn a_lease_past_its_end_cannot_be_renewed() {
        assert!(renew(&running(), &args(None), at(29_999)).is_ok());
        let refusal = renew(&running(), &args(None), at(30_000)).unwrap_err();
        assert_eq!(refusal.code, Code::LeaseExpired);
    }
}
