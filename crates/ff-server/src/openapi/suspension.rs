//! The routes of suspensions, waitpoints and signals.

use ff_api::{
    CloseWaitpoint, Decide, Decisions, Deliver, ReceivedSignal, Suspend, SuspendReply, WaitpointTokenReply, Waitpoints,
};
use ff_core::contracts::{ClosedWaitpoint, DeliveredSignal, DeliveriesPage, ResumedExecution, SignalsPage};
use ff_core::types::IdempotencyKey;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/executions/{id}/suspend", "Suspends an execution until its condition is met.")
        .takes::<Suspend>(Suspend::BODY_BYTES)
        .answers::<SuspendReply>(200, "It is suspended, or its condition was already met.")
        .refused(&[409])
        .done();
    for (path, summary) in [
        ("/v1/executions/{id}/resume", "Resumes a suspended execution."),
        ("/v1/executions/{id}/approve", "Approves a suspended execution."),
        ("/v1/executions/{id}/reject", "Rejects a suspended execution."),
    ] {
        api.post(path, summary)
            .takes::<Decide>(Decide::BODY_BYTES)
            .answers::<ResumedExecution>(200, "The suspension is over.")
            .refused(&[409])
            .done();
    }
    api.get("/v1/executions/{id}/waitpoints", "Lists the open waitpoints of an execution, without their tokens.")
        .answers::<Waitpoints>(200, "The open waitpoints.")
        .done();
    api.get("/v1/executions/{id}/waitpoints/{waitpoint}/token", "Returns the token of a waitpoint to an operator.")
        .answers::<WaitpointTokenReply>(200, "The token.")
        .refused(&[409])
        .done();
    api.post("/v1/executions/{id}/waitpoints/{waitpoint}/close", "Closes a waitpoint that no suspension has used.")
        .takes::<CloseWaitpoint>(CloseWaitpoint::BODY_BYTES)
        .answers::<ClosedWaitpoint>(200, "It is closed.")
        .refused(&[409])
        .done();
    api.post(
        "/v1/executions/{id}/signals",
        "Delivers a signal to a waitpoint. Requires the waitpoint's token or a key with the role `signal`.",
    )
    .repeatable::<IdempotencyKey>()
    .takes::<Deliver>(Deliver::BODY_BYTES)
    .answers::<DeliveredSignal>(200, "The effect of the signal.")
    .refused(&[401, 409, 429])
    .done();
    api.get("/v1/executions/{id}/signals", "Lists the signals of an execution, oldest first.")
        .answers::<SignalsPage>(200, "One page.")
        .done();
    api.get("/v1/executions/{id}/signals/{signal}", "Returns a signal with its payload.")
        .answers::<ReceivedSignal>(200, "The signal.")
        .done();
    api.get("/v1/deliveries", "Lists the signals delivered since a cursor, in all namespaces.")
        .answers::<DeliveriesPage>(200, "One page, and the cursor of the next.")
        .done();
    api.get("/v1/decisions", "Lists the approvals and rejections of the last week, newest first.")
        .answers::<Decisions>(200, "The latest decisions.")
        .done();
}
