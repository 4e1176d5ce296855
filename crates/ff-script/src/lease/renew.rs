//! A holder wants to go on.

use ff_core::contracts::{RenewArgs, Renewed};
use ff_core::types::TimestampMs;

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::RenewLease;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Moves the lease's end to a TTL from now.
pub async fn ff_renew_lease(server: &dyn Server, args: RenewArgs) -> Result<Renewed, ScriptError> {
    let renew = RenewLease {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        lease_ttl_ms: args.lease_ttl_ms,
    };
    ask(server, renew.call()).await
}

impl FromFcallResult for Renewed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { lease_expires_at: TimestampMs(fields.read()?) })
    }
}
