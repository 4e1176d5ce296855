// A row is a variant, its code, its class, its HTTP status and its sentence. Codes are stable; sentences may improve.
error_table! {
    // Execution.
    ExecutionNotFound "execution_not_found" Terminal 404 "There is no execution with this id.";
    ExecutionNotActive "execution_not_active" Terminal 409
        "No worker holds this execution, so a holder's call is refused.";
    ExecutionNotTerminal "execution_not_terminal" Terminal 409 "The execution has not finished yet.";
    ExecutionNotEligible "execution_not_eligible" Informational 409
        "The execution is not waiting to be claimed, so this does not apply to it.";
    NotRunnable "not_runnable" Terminal 409 "The execution cannot be queued: it is running, suspended or finished, or its lane accepts no submissions.";
    MaxReplaysExhausted "max_replays_exhausted" Terminal 409
        "The execution has been replayed as often as its policy allows.";
    IdempotencyConflict "idempotency_conflict" Terminal 409
        "The same key or id was used before for a different kind or payload.";
    InvalidExecutionId "invalid_execution_id" Terminal 400 "This is not the id of an execution.";
    InvalidPolicyJson "invalid_policy_json" Terminal 400 "The policy has a field that is unknown or out of range.";
    InvalidTagKey "invalid_tag_key" Terminal 400 "This is not a valid tag key.";
    InvalidBlockingReason "invalid_blocking_reason" Terminal 400 "An execution cannot be blocked for this reason.";

    // Lease.
    StaleLease "stale_lease" Terminal 409 "Another attempt has held this execution since; this lease is over.";
    LeaseExpired "lease_expired" Terminal 409 "The lease expired before this call.";
    LeaseRevoked "lease_revoked" Terminal 409 "An operator revoked the lease.";
    NoActiveLease "no_active_lease" Informational 409 "No worker holds this execution.";
    FenceRequired "fence_required" Terminal 400
        "A holder's call needs its fence: lease_id, lease_epoch and attempt_id.";
    PartialFenceTriple "partial_fence_triple" Terminal 400
        "A fence consists of lease_id, lease_epoch and attempt_id; one of them is missing.";

    // Claims and grants.
    NotAResumedExecution "not_a_resumed_execution" Retryable 409
        "The execution has no attempt to resume; claim it as a new attempt.";
    ExecutionNotReclaimable "execution_not_reclaimable" Informational 409
        "The lease of the execution has not expired, so no other worker can claim it.";
    LeaseConflict "lease_conflict" Retryable 409 "Another worker holds this execution.";
    GrantAlreadyExists "grant_already_exists" Informational 409
        "The execution is assigned to another worker instance.";
    InvalidClaimGrant "invalid_claim_grant" Retryable 409 "There is no grant for this worker to claim this execution.";
    ClaimGrantExpired "claim_grant_expired" Retryable 409 "The grant expired before it was used.";

    // Flow.
    FlowNotFound "flow_not_found" Terminal 404 "There is no flow with this id.";
    FlowAlreadyTerminal "flow_already_terminal" Terminal 409 "The flow has ended and cannot change any more.";
    ExecutionNotInFlow "execution_not_in_flow" Terminal 409 "The execution is not a member of this flow.";
    ExecutionAlreadyInFlow "execution_already_in_flow" Terminal 409 "The execution is already a member of a flow.";
    StaleGraphRevision "stale_graph_revision" Retryable 409
        "The flow's graph has changed since; read it again and repeat the change.";
    SelfReferencingEdge "self_referencing_edge" Terminal 400 "An execution cannot depend on itself.";
    CycleDetected "cycle_detected" Terminal 409 "The edge would close a cycle.";
    DependencyAlreadyExists "dependency_already_exists" Terminal 409 "The flow already has this edge.";
    InvalidDependency "invalid_dependency" Terminal 409 "The execution has no such edge to an upstream.";
    NotBlockedByDeps "not_blocked_by_deps" Informational 409 "The execution is not waiting for any upstream.";
    DepsNotSatisfied "deps_not_satisfied" Informational 409 "The execution still waits for an upstream.";

    // Suspension and waitpoints.
    ExecutionNotSuspended "execution_not_suspended" Informational 409 "The execution is not suspended.";
    WaitpointNotFound "waitpoint_not_found" Retryable 404
        "There is no such waitpoint, or not yet: a signal may arrive before the suspension.";
    WaitpointAlreadyExists "waitpoint_already_exists" Informational 409 "There is already a waitpoint with this id.";
    WaitpointNotPending "waitpoint_not_pending" Informational 409
        "The waitpoint is already in use or closed, so no suspension can wait on it.";
    WaitpointClosed "waitpoint_closed" Informational 409 "The waitpoint is closed and accepts no signals.";
    PendingWaitpointExpired "pending_waitpoint_expired" Informational 409
        "The waitpoint was created before its suspension and expired before the suspension began.";
    InvalidWaitpointKey "invalid_waitpoint_key" Terminal 400 "This is not a valid waitpoint key.";
    AdditionalWaitpointBindingMalformed "additional_waitpoint_binding_malformed" Terminal 400
        "Every additional waitpoint of a suspension needs an id, a key and a token.";

    // Waitpoint tokens and their secrets.
    InvalidToken "invalid_token" Terminal 403 "The token does not open this waitpoint or stream.";
    MissingToken "missing_token" Terminal 403 "A signal needs the token of its waitpoint.";
    TokenExpired "token_expired" Terminal 403 "The token has expired, or the secret that signed it has been retired.";
    WaitpointTokenRequired "waitpoint_token_required" Terminal 400 "A new waitpoint needs its token.";
    HmacSecretNotInitialized "hmac_secret_not_initialized" Retryable 503
        "There is no secret to sign tokens with yet; an operator must rotate one in.";
    InvalidKid "invalid_kid" Terminal 400 "A kid is a non-empty text without a colon.";
    InvalidSecretHex "invalid_secret_hex" Terminal 400 "A secret is hexadecimal text of 16 to 1024 bytes.";
    InvalidGraceMs "invalid_grace_ms" Terminal 400 "A grace period is a whole number of milliseconds, 0 or more.";
    RotationConflict "rotation_conflict" Terminal 409 "This kid already belongs to a different secret.";

    // Signal.
    TargetNotSignalable "target_not_signalable" Terminal 409 "The execution is in a state that accepts no signals.";
    SignalLimitExceeded "signal_limit_exceeded" Terminal 409 "The execution has reached its maximum number of signals.";

    // Worker.
    InvalidCapabilities "invalid_capabilities" Terminal 400
        "A capability is malformed, or there are too many capabilities.";

    // Streams.
    StreamNotFound "stream_not_found" Expected 404 "The attempt has no output.";
    RetentionLimitExceeded "retention_limit_exceeded" Terminal 413 "The frame is larger than a stream accepts.";
    InvalidFrameType "invalid_frame_type" SoftError 400 "There is no such type of frame.";
    InvalidOffset "invalid_offset" Retryable 409 "The stream has nothing at this position.";

    // Requests.
    InvalidInput "invalid_input" Terminal 400 "A field of the request has an invalid value.";
    InvalidArgs "invalid_args" Terminal 400 "An argument of the function is missing or malformed.";
    UnknownField "unknown_field" Terminal 400 "The request has an unknown field.";
    InvalidJson "invalid_json" Terminal 400 "The body is not JSON of the expected shape.";
    InvalidCursor "invalid_cursor" Terminal 400 "This cursor does not belong to this listing.";
    LimitExceeded "limit_exceeded" Terminal 400 "A field of the request is over its limit.";
    PayloadTooLarge "payload_too_large" Terminal 413 "The payload or body is larger than allowed.";
    UnsupportedMediaType "unsupported_media_type" Terminal 415 "The body must be sent as application/json.";
    Unauthenticated "unauthenticated" Terminal 401 "The caller must present a valid API key.";
    Unauthorized "unauthorized" Terminal 403 "The caller may not do this.";
    NotFound "not_found" Terminal 404 "There is nothing at this address.";
    MethodNotAllowed "method_not_allowed" Terminal 405 "This address does not support this method.";
    RateLimitExceeded "rate_limit_exceeded" Retryable 429 "There were too many requests; repeat the request later.";
    RequestTimeout "request_timeout" Retryable 408 "The request did not arrive or finish in time.";

    // The service and its store.
    Overloaded "overloaded" Retryable 503 "The server handles its maximum number of requests; repeat the request later.";
    ShuttingDown "shutting_down" Retryable 503 "The server is stopping and accepts no requests.";
    StoreUnavailable "store_unavailable" Retryable 503 "The store cannot be reached; nothing was done.";
    OutcomeUnknown "outcome_unknown" Retryable 503 "The store did not answer, so the outcome is unknown; it is safe to repeat the request.";
    InvariantViolation "invariant_violation" Bug 500 "Two records contradict each other; nothing was changed.";
    Corruption "corruption" Bug 500 "The store contains a record that cannot be read.";
    Internal "internal" Bug 500 "The server has a defect; its log says more.";
    // Quotas.
    QuotaPolicyNotFound "quota_policy_not_found" Terminal 404 "There is no quota policy with this name.";
    InvalidQuotaSpec "invalid_quota_spec" Terminal 400 "The windows and caps of the quota are inconsistent.";

    // Schedules.
    ScheduleNotFound "schedule_not_found" Terminal 404 "There is no schedule with this name.";
    // Budgets.
    BudgetNotFound "budget_not_found" Terminal 404 "There is no budget with this name.";
    BudgetExceeded "budget_exceeded" Cooperative 409 "The budget is spent; stop until it resets or is raised.";
}
