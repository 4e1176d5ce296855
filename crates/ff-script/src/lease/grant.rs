//! Grants: for a while only one worker instance may claim an execution.

use ff_core::contracts::{AssignArgs, GrantIssued, GrantRevoked, UnassignArgs};
use ff_core::types::TimestampMs;

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::{IssueClaimGrant, RevokeClaimGrant};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Assigns an execution to one worker instance for a while.
pub async fn ff_issue_claim_grant(server: &dyn Server, args: AssignArgs) -> Result<GrantIssued, ScriptError> {
    let AssignArgs { execution_id, worker_instance_id, ttl_ms, reason, requested_by } = args;
    let issue = IssueClaimGrant {
        core: core_key(&execution_id),
        worker_instance_id: worker_instance_id.to_string(),
        ttl_ms,
        reason,
        requested_by,
    };
    ask(server, issue.call()).await
}

impl FromFcallResult for GrantIssued {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { expires_at: TimestampMs(fields.read()?), already })
    }
}

/// Ends an assignment early.
pub async fn ff_revoke_claim_grant(server: &dyn Server, args: UnassignArgs) -> Result<GrantRevoked, ScriptError> {
    ask(server, RevokeClaimGrant { core: core_key(&args.execution_id) }.call()).await
}

impl FromFcallResult for GrantRevoked {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, already) = result.into_fields();
        Ok(Self { public_state: fields.read()?, already })
    }
}
