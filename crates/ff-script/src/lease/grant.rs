//! Grants: for a while only one worker instance may claim an execution.

use ff_core::contracts::{AssignArgs, GrantIssued, GrantRevoked, UnassignArgs};
use ff_core::types::TimestampMs;

use crate::execution::core_key;
use crate::server::ask_fields;
use crate::signature::{IssueClaimGrant, RevokeClaimGrant};
use crate::{Fcall, ScriptError, Server};

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
    issued(server, issue.call()).await
}

/// Sends an assignment, and reads its answer.
pub(crate) async fn issued(server: &dyn Server, call: Fcall) -> Result<GrantIssued, ScriptError> {
    let (mut fields, already) = ask_fields(server, call).await?;
    Ok(GrantIssued { expires_at: TimestampMs(fields.read()?), already })
}

/// Ends an assignment early.
pub async fn ff_revoke_claim_grant(server: &dyn Server, args: UnassignArgs) -> Result<GrantRevoked, ScriptError> {
    let (mut fields, already) =
        ask_fields(server, RevokeClaimGrant { core: core_key(&args.execution_id) }.call()).await?;
    Ok(GrantRevoked { public_state: fields.read()?, already })
}
