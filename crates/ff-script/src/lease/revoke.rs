//! An operator takes a lease away.

use ff_core::contracts::{RevokeArgs, Revoked};
use ff_core::types::LeaseEpoch;

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::RevokeLease;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Takes an execution from its holder; it waits for another.
pub async fn ff_revoke_lease(server: &dyn Server, args: RevokeArgs) -> Result<Revoked, ScriptError> {
    let lease_id = args.lease_id.map(|id| id.to_string());
    ask(server, RevokeLease { core: core_key(&args.execution_id), lease_id, reason: args.reason }.call()).await
}

impl FromFcallResult for Revoked {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { lease_epoch: LeaseEpoch(fields.read()?), already })
    }
}
