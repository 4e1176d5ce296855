//! The routes of suspensions, waitpoints and signals.

use ff_api::{
    CloseWaitpoint, Decide, Decisions, Deliver, Encoding, ReceivedSignal, Suspend, SuspendReply, TokenOf, Waitpoints,
};
use ff_core::contracts::{ClosedWaitpoint, DeliveredSignal, DeliveriesPage, ResumedExecution, SignalsPage};
use ff_core::types::{IdempotencyKey, Namespace};

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/executions/{id}/suspend", "Lets the holder go and the execution wait.")
        .takes::<Suspend>(Suspend::BODY_BYTES)
        .answers::<SuspendReply>(200, "It waits, or what it would wait for was there already.")
        .refused(&[409])
        .done();
    for (path, summary) in [
        ("/v1/executions/{id}/resume", "Lets a suspended execution go on."),
        ("/v1/executions/{id}/approve", "Approves what a suspended execution waits for."),
        ("/v1/executions/{id}/reject", "Rejects what a suspended execution waits for."),
    ] {
        api.post(path, summary)
            .takes::<Decide>(Decide::BODY_BYTES)
            .answers::<ResumedExecution>(200, "The suspension is over.")
            .refused(&[409])
            .done();
    }
    api.get("/v1/executions/{id}/waitpoints", "Lists the open waitpoints of an execution, without their tokens.")
        .answers::<Waitpoints>(200, "Those there are.")
        .done();
    api.get("/v1/executions/{id}/waitpoints/{waitpoint}/token", "Tells an operator what opens a waitpoint.")
        .answers::<TokenOf>(200, "The token.")
        .refused(&[409])
        .done();
    api.post("/v1/executions/{id}/waitpoints/{waitpoint}/close", "Closes a waitpoint no suspension has used.")
        .takes::<CloseWaitpoint>(CloseWaitpoint::BODY_BYTES)
        .answers::<ClosedWaitpoint>(200, "It is closed.")
        .refused(&[409])
        .done();
    api.post(
        "/v1/executions/{id}/signals",
        "Delivers a signal to a waitpoint by its token, or by a key that may signal.",
    )
    .repeatable::<IdempotencyKey>()
    .takes::<Deliver>(Deliver::BODY_BYTES)
    .answers::<DeliveredSignal>(200, "What it did.")
    .refused(&[401, 409, 429])
    .done();
    api.get("/v1/executions/{id}/signals", "Lists the signals of an execution, oldest first.")
        .count("skip", 0, "How many to pass over.")
        .limit()
        .answers::<SignalsPage>(200, "A page of them.")
        .done();
    api.get("/v1/executions/{id}/signals/{signal}", "Tells one signal with its bytes.")
        .query::<Encoding>("encoding", "How bytes are written that are not JSON.")
        .answers::<ReceivedSignal>(200, "The signal.")
        .done();
    api.get("/v1/deliveries", "Tells what was delivered anywhere since a cursor.")
        .cursor("after")
        .limit()
        .wait()
        .answers::<DeliveriesPage>(200, "Some of it, and where to go on.")
        .done();
    api.get("/v1/decisions", "Lists who approved and rejected what in the last week, newest first.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .limit()
        .answers::<Decisions>(200, "The latest of them.")
        .done();
}
