//! The functions of leases: claiming, renewing, revoking, assigning.

mod claim;
mod grant;

use ff_core::contracts::{RenewArgs, RenewedLease, RevokeArgs, RevokedLease};
use ff_core::types::{LeaseEpoch, TimestampMs};

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::{RenewLease, RevokeLease};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

pub(crate) use claim::ClaimTerms;
pub use claim::{ff_claim_admitted, ff_claim_execution, ff_claim_granted};
pub use grant::{ff_issue_claim_grant, ff_revoke_claim_grant};

/// Extends the lease to one TTL from now.
pub async fn ff_renew_lease(server: &dyn Server, args: RenewArgs) -> Result<RenewedLease, ScriptError> {
    let renew = RenewLease {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        lease_ttl_ms: args.lease_ttl_ms,
    };
    ask(server, renew.call()).await
}

impl FromFcallResult for RenewedLease {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { lease_expires_at: TimestampMs(fields.read()?) })
    }
}

/// Revokes the lease of an execution, which then waits for another holder.
pub async fn ff_revoke_lease(server: &dyn Server, args: RevokeArgs) -> Result<RevokedLease, ScriptError> {
    let lease_id = args.lease_id.map(|id| id.to_string());
    ask(server, RevokeLease { core: core_key(&args.execution_id), lease_id, reason: args.reason }.call()).await
}

impl FromFcallResult for RevokedLease {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { lease_epoch: LeaseEpoch(fields.read()?), already })
    }
}
