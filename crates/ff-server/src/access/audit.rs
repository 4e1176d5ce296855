//! The audit log: decisions of people, with their author, subject and outcome. The store records these decisions as well.

use axum::http::Method;
use ff_core::contracts::{CreatedKey, DeliveredSignal, FlowCancelled, ResumedExecution, RevokedKey, RotationReport};
use ff_core::suspension::OperatorDecision;
use ff_core::types::{
    BudgetName, Dimension, ExecutionId, FlowId, KeyId, Kid, SignalName, SourceIdentity, TimestampMs, WaitpointId,
};

use crate::access::callers::Caller;
use crate::routing::route_table;

/// Log target of the audit lines.
const AUDIT: &str = "ff_server::audit";

/// Logs a request by which an operator changes work, with its operation id.
pub(crate) fn steered(caller: &Caller, method: &Method, route: &str, path: &str) {
    if route_table::is_audited(method.as_str(), route) {
        let operation = route_table::operation_id(method.as_str(), route).unwrap_or_default();
        tracing::info!(target: AUDIT, operation, path, %caller, "work was changed");
    }
}

/// Logs that an operator ended a suspension.
pub(crate) fn decided(
    caller: &Caller,
    execution: &ExecutionId,
    decision: OperatorDecision,
    requested_by: Option<&SourceIdentity>,
    resumed: &ResumedExecution,
) {
    let requested_by = requested_by.map_or("unnamed", SourceIdentity::as_str);
    tracing::info!(
        target: AUDIT,
        %decision,
        %execution,
        suspension = %resumed.suspension_id,
        requested_by = ?requested_by,
        %caller,
        already = resumed.already,
        "an operator decided"
    );
}

/// Logs a decision through an approval link.
pub(crate) fn decided_by_link(
    caller: &Caller,
    execution: &ExecutionId,
    waitpoint: &WaitpointId,
    decision: &SignalName,
    delivered: &DeliveredSignal,
) {
    tracing::info!(
        target: AUDIT,
        %decision,
        %execution,
        %waitpoint,
        signal = %delivered.signal_id,
        effect = %delivered.effect,
        %caller,
        "decision through an approval link"
    );
}

/// Logs that an approval through a link raised the hard limit of a budget.
pub(crate) fn raised_by_link(
    caller: &Caller,
    execution: &ExecutionId,
    budget: &BudgetName,
    dimension: &Dimension,
    by: u64,
) {
    tracing::info!(target: AUDIT, %execution, %budget, %dimension, by, %caller, "an approval through a link raised a budget");
}

/// Logs that an operator read the token of a waitpoint.
pub(crate) fn token_read(caller: &Caller, execution: &ExecutionId, waitpoint: &WaitpointId) {
    tracing::info!(target: AUDIT, %execution, %waitpoint, %caller, "an operator read a token");
}

/// Logs that a caller got a token for reading a stream.
pub(crate) fn stream_token_made(caller: &Caller, execution: &ExecutionId, expires_at: TimestampMs) {
    tracing::info!(target: AUDIT, %execution, expires_at = expires_at.0, %caller, "a token for a stream was made");
}

/// Logs that an operator rotated the secret.
pub(crate) fn rotated(caller: &Caller, kid: &Kid, report: &RotationReport) {
    tracing::info!(
        target: AUDIT,
        kid = ?kid.as_str(),
        partitions = report.rotated.len(),
        failed = report.failed.len(),
        %caller,
        "an operator rotated the secret"
    );
}

/// Logs that a flow was cancelled.
pub(crate) fn flow_cancelled(caller: &Caller, flow: &FlowId, requested_by: Option<&str>, cancelled: &FlowCancelled) {
    tracing::info!(
        target: AUDIT,
        %flow,
        policy = %cancelled.policy,
        cancelled = cancelled.cancelled,
        scheduled = cancelled.scheduled,
        already = cancelled.already,
        requested_by = ?requested_by.unwrap_or("unnamed"),
        %caller,
        "somebody cancelled a flow"
    );
}

/// Logs that an administrator created a key.
pub(crate) fn key_created(caller: &Caller, created: &CreatedKey) {
    let key = &created.key;
    tracing::info!(
        target: AUDIT,
        id = %key.key_id,
        name = ?key.name,
        roles = ?key.roles,
        namespace = ?key.namespace,
        already = created.already,
        %caller,
        "an administrator created a key"
    );
}

/// Logs that an administrator revoked a key.
pub(crate) fn key_revoked(caller: &Caller, id: &KeyId, revoked: &RevokedKey) {
    tracing::info!(target: AUDIT, %id, already = revoked.already, %caller, "an administrator revoked a key");
}

/// Logs that a caller sent a malformed, unknown, forged, revoked or expired key.
pub(crate) fn wrong_key(caller: &Caller, named: Option<&KeyId>) {
    let id = named.map_or("none", KeyId::as_str);
    tracing::info!(target: AUDIT, id = ?id, %caller, "a wrong API key was presented");
}
