error_table! {
    StaleLease "stale_lease" Terminal 409 "Someone else has held this execution since; this holder's time is over.";
    LeaseExpired "lease_expired" Terminal 409 "The lease ran out before this call.";
    LeaseRevoked "lease_revoked" Terminal 409 "An operator took the lease away.";
    ExecutionNotActive "execution_not_active" Terminal 409 "Nobody holds this execution, so nothing can be done in its holder's name.";
    PayloadTooLarge "payload_too_large" Terminal 413 "The payload or body is larger than allowed.";
    ExecutionNotTerminal "execution_not_terminal" Terminal 409 "The execution has not finished yet.";
    MaxReplaysExhausted "max_replays_exhausted" Terminal 409 "The execution has been replayed as often as its policy allows.";
    ExecutionNotFound "execution_not_found" Terminal 404 "There is no execution with this id.";
    InvalidInput "invalid_input" Terminal 400 "A field of the request is not what it must be.";
    InvalidPolicyJson "invalid_policy_json" Terminal 400 "The policy has a field that is unknown or out of range.";
    FenceRequired "fence_required" Terminal 400 "A holder's call needs its fence: lease_id, lease_epoch and attempt_id.";
    PartialFenceTriple "partial_fence_triple" Terminal 400 "A fence is all of lease_id, lease_epoch and attempt_id, or none.";
    NoActiveLease "no_active_lease" Informational 409 "Nobody holds this execution.";
    IdempotencyConflict "idempotency_conflict" Terminal 409 "The same key or id was used before for a different kind or payload.";
    LimitExceeded "limit_exceeded" Terminal 400 "A field of the request is over its limit.";
    InvalidExecutionId "invalid_execution_id" Terminal 400 "This is not the id of an execution.";
    InvalidCursor "invalid_cursor" Terminal 400 "This cursor was not given out by this listing.";
    InvalidJson "invalid_json" Terminal 400 "The body is not JSON of the expected shape.";
    UnknownField "unknown_field" Terminal 400 "The request has a field nobody reads.";
}
