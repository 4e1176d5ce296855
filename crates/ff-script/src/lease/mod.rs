//! The functions of leases: claiming, renewing, revoking, assigning.

mod claim;
mod grant;

use ff_core::contracts::{RenewArgs, RenewedLease, RevokeArgs, RevokedLease};
use ff_core::types::{LeaseEpoch, TimestampMs};

use crate::execution::core_key;
use crate::server::{ask, ask_fields};
use crate::signature::{RenewLease, RevokeLease};
use crate::{ScriptError, Server};

pub(crate) use claim::ClaimTerms;
pub use claim::{ff_claim_admitted, ff_claim_execution, ff_claim_granted};
pub(crate) use grant::issued;
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
    let mut fields = ask(server, renew.call()).await?;
    Ok(RenewedLease { lease_expires_at: TimestampMs(fields.read()?) })
}

/// Revokes the lease of an execution, which then waits for another holder.
pub async fn ff_revoke_lease(server: &dyn Server, args: RevokeArgs) -> Result<RevokedLease, ScriptError> {
    let lease_id = args.lease_id.map(|id| id.to_string());
    let (mut fields, already) =
        ask_fields(server, RevokeLease { core: core_key(&args.execution_id), lease_id, reason: args.reason }.call())
            .await?;
    Ok(RevokedLease { lease_epoch: LeaseEpoch(fields.read()?), already })
}
