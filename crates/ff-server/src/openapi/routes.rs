//! The routes with a handler: their bodies, answers and errors.

use ff_api::{
    Activity, BackfillSchedule, Batch, BatchReply, BeginSession, Bulk, CancelFlow, Claim, Claims, CloseWaitpoint,
    ConfigureLane, CreateKey, Decide, Decisions, DeleteBudget, DeleteQuota, DeleteSchedule, Deliver, Deployment,
    DoctorReport, EndSession, ExecutionEnd, FlowCancellation, FlowView, FlowsPage, Grants, GrowFlow, LanesPage,
    MakeStreamToken, NewKey, Page, PauseSchedule, PayloadView, PutBudget, PutQuota, PutSchedule, ReceivedSignal,
    Replay, ResetBudget, ResumeSchedule, RevokeKey, RotateSecret, RotationReport, ScheduleView, SchedulesPage, Secrets,
    Session, StepsPage, StreamPage, StreamTokenReply, Submit, SubmitFlow, Suspend, SuspendReply, TriggerSchedule,
    WaitpointTokenReply, Waitpoints, WorkerBatch, WorkerBatchReply,
};
use ff_core::budget::Budget;
use ff_core::contracts::*;
use ff_core::explain::{Explanation, LaneExplanation};
use ff_core::quota::QuotaPolicy;
use ff_core::schedule::TickRecord;
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::health::Health;
use crate::response::problem::ErrorPage;

/// Error statuses of the approval page.
const ON_A_PAGE: &[u16] = &[400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503];

/// Describes routes, as `METHOD PATH takes BODY -> ANSWER, SUMMARY => DESCRIPTION OF THE ANSWER`, and what else there is to say
/// about a route.
macro_rules! describe {
    ($api:ident: $($method:ident $path:literal $(takes $body:ident)? -> $answer:ident, $does:literal => $says:literal
        $(.$more:ident$(::<$type:ident>)?($($argument:expr),*))*;)*) => {
        $($api.$method($path, $does)
            $(.takes::<$body>())?
            .answers::<$answer>(200, $says)
            $(.$more$(::<$type>)?($($argument),*))*
            .done();)*
    };
}

pub(super) fn describe(api: &mut OpenApiBuilder) {
    describe! { api:
        get "/healthz" -> Health,
            "Checks that the server is running." => "It is healthy.";
        get "/readyz" -> Health,
            "Checks that the store is reachable." => "It is healthy.";
        get "/errors/{code}" -> ErrorPage,
            "Describes an error code." => "Its meaning.";
        get "/v1/partitions" -> Deployment,
            "Returns the number of partitions of the store." => "The number of partitions, and the public address for links.";
        get "/v1/session" -> Session,
            "Returns the caller's key, and whether keys are required." => "The caller's key, without its secret.";
        post "/v1/session" takes BeginSession -> Session,
            "Starts a browser session: sets a cookie that stands for the key of this request." => "The key. The cookie is valid for twelve hours.";
        post "/v1/session/end" takes EndSession -> EndSession,
            "Ends the browser session." => "The cookie is removed.";
        get "/v1/activity" -> Activity,
            "Returns the attempts that ended on this server in the last hour." => "Per lane and minute, and per kind.";
        get "/v1/doctor" -> DoctorReport,
            "Checks the invariants of the store." => "What was checked, and the violations found.";
        get "/v1/secrets" -> Secrets,
            "Lists the names of the secrets, without the secrets." => "The names on each partition.";
        post "/v1/secrets/rotate" takes RotateSecret -> RotationReport,
            "Installs a new secret for waitpoint tokens." => "The result for each partition.".refused(&[409]);

        post "/v1/executions" takes Submit -> SubmittedExecution,
            "Creates an execution, or finds the one already created under the same key." => "It already existed."
            .answers::<SubmittedExecution>(201, "It was created.").repeatable().refused(&[409]);
        get "/v1/executions" -> Page,
            "Lists executions, newest first." => "One page, and the cursor of the next.";
        post "/v1/executions/batch" takes Batch -> BatchReply,
            "Creates up to 1000 executions, each with its own result." => "Results, in request order.";
        post "/v1/executions/bulk" takes Bulk -> BulkPage,
            "Cancels, holds, releases or replays the executions that match a filter, page by page." => "The result, and the cursor of the next page.";
        get "/v1/executions/{id}" -> ExecutionInfo,
            "Returns an execution and its state." => "Its state.";
        get "/v1/executions/{id}/explain" -> Explanation,
            "Explains why an execution does not run, and suggests actions." => "All conditions with their verdicts, the next event, and suggested commands.";
        get "/v1/executions/{id}/payload" -> PayloadView,
            "Returns the submitted payload." => "The raw bytes, or JSON.".answers_a(200, "*/*", json!({}), "");
        get "/v1/executions/{id}/result" -> ExecutionEnd,
            "Returns how an execution ended; with `wait_ms`, waits for its end." => "How it ended, with its result.".refused(&[409]);
        get "/v1/executions/{id}/attempts" -> Attempts,
            "Lists the attempts of an execution." => "Its attempts, and its expired, revoked and released leases.";
        get "/v1/executions/{id}/steps" -> StepsPage,
            "Lists the recorded steps of an execution, in the order of recording." => "Steps with their results, and the start of the next page.";

        get "/v1/workers" -> WorkersPage,
            "Lists the registered worker instances." => "One page.";
        get "/v1/grants" -> Grants,
            "Lists assigned executions, newest first." => "One page, and the cursor of the next.";
        post "/v1/workers/{instance}/claim" takes Claim -> Claims,
            "Claims work; with `wait_ms`, waits for it." => "Claimed executions; empty when no work arrived in time.";
        post "/v1/worker/batch" takes WorkerBatch -> WorkerBatchReply,
            "Executes up to 1000 calls of a worker, each with its own result." => "Results, in request order.";
        get "/v1/workers/{instance}/control" -> Control,
            "Lists the leases that a worker instance has lost." => "Leases lost since the cursor.";

        post "/v1/executions/{id}/suspend" takes Suspend -> SuspendReply,
            "Suspends an execution until its condition is met." => "It is suspended, or its condition was already met.".refused(&[409]);
        post "/v1/executions/{id}/resume" takes Decide -> ResumedExecution,
            "Resumes a suspended execution." => "The suspension is over.".refused(&[409]);
        post "/v1/executions/{id}/approve" takes Decide -> ResumedExecution,
            "Approves a suspended execution." => "The suspension is over.".refused(&[409]);
        post "/v1/executions/{id}/reject" takes Decide -> ResumedExecution,
            "Rejects a suspended execution." => "The suspension is over.".refused(&[409]);
        get "/v1/executions/{id}/waitpoints" -> Waitpoints,
            "Lists the open waitpoints of an execution, without their tokens." => "The open waitpoints.";
        get "/v1/executions/{id}/waitpoints/{waitpoint}/token" -> WaitpointTokenReply,
            "Returns the token of a waitpoint to an operator." => "The token.".refused(&[409]);
        post "/v1/executions/{id}/waitpoints/{waitpoint}/close" takes CloseWaitpoint -> ClosedWaitpoint,
            "Closes a waitpoint that no suspension has used." => "It is closed.".refused(&[409]);
        post "/v1/executions/{id}/signals" takes Deliver -> DeliveredSignal,
            "Delivers a signal to a waitpoint. Requires the waitpoint's token or a key with the role `signal`." => "The effect of the signal."
            .repeatable().refused(&[401, 409, 429]);
        get "/v1/executions/{id}/signals" -> SignalsPage,
            "Lists the signals of an execution, oldest first." => "One page.";
        get "/v1/executions/{id}/signals/{signal}" -> ReceivedSignal,
            "Returns a signal with its payload." => "The signal.";
        get "/v1/deliveries" -> DeliveriesPage,
            "Lists the signals delivered since a cursor, in all namespaces." => "One page, and the cursor of the next.";
        get "/v1/decisions" -> Decisions,
            "Lists the approvals and rejections of the last week, newest first." => "The latest decisions.";

        get "/v1/executions/{id}/stream" -> StreamPage,
            "Reads the output stream of an execution, or of one attempt." => "One page of items, and the cursor of the next."
            .streams("One event per item, with the cursor as its id, until the stream has ended.");
        post "/v1/executions/{id}/stream/token" takes MakeStreamToken -> StreamTokenReply,
            "Creates a temporary token for reading the stream of an execution." => "The token, for a reader without a key.".refused(&[409]);

        post "/v1/flows" takes SubmitFlow -> SubmittedFlow,
            "Creates a flow, complete or held open, or finds the one already created." => "It already existed."
            .answers::<SubmittedFlow>(201, "It was created.").repeatable().refused(&[404, 409]);
        get "/v1/flows" -> FlowsPage,
            "Lists flows, newest first." => "One page, and the cursor of the next.";
        get "/v1/flows/{flow}" -> FlowView,
            "Returns a flow; with `wait_ms`, waits for its end." => "The flow, with the first part of its graph.";
        get "/v1/flows/{flow}/members" -> MembersPage,
            "Lists the members of a flow, in the order they were added." => "One page.";
        get "/v1/flows/{flow}/edges" -> EdgesPage,
            "Lists the edges of a flow, ordered by id." => "One page.";
        get "/v1/flows/{flow}/events" -> FlowEventsPage,
            "Lists the events of a flow, or streams them." => "One page, and the cursor of the next."
            .streams("Each event as a `flow` event, until the flow has ended.");
        post "/v1/flows/{flow}/grow" takes GrowFlow -> GrownFlow,
            "Adds members and edges to a live flow, all or none." => "The added members and edges.".repeatable().refused(&[409]);
        post "/v1/flows/{flow}/cancel" takes CancelFlow -> FlowCancellation,
            "Cancels a flow; with `wait_ms`, waits for its end." => "It is cancelled.".refused(&[409]);
        post "/v1/flows/{flow}/nodes/{node}/replay" takes Replay -> ReplayedExecution,
            "Runs a finished node again." => "It is waiting again.".refused(&[409]);

        get "/v1/lanes" -> LanesPage,
            "Lists the lanes that were configured or have executions." => "One page.";
        get "/v1/lanes/{lane}" -> LaneInfo,
            "Returns the settings of a lane and its executions by state." => "Its state.";
        get "/v1/lanes/{lane}/explain" -> LaneExplanation,
            "Explains why executions of a lane do not run, grouped by reason." => "Reasons, the one with most executions first, and suggested actions.";
        post "/v1/lanes/{lane}" takes ConfigureLane -> LaneInfo,
            "Pauses, drains or resumes a lane, and changes its settings." => "The lane as it is now.";

        get "/v1/quotas" -> Quotas,
            "Lists the quota policies of a namespace." => "All of them, ordered by name.";
        get "/v1/quotas/{quota}" -> QuotaInfo,
            "Returns a quota policy and its usage." => "The policy, and its key values in use.";
        post "/v1/quotas/{quota}" takes PutQuota -> QuotaPolicy,
            "Creates or replaces a quota policy. It is in force when the response arrives." => "The policy as it is now.";
        post "/v1/quotas/{quota}/delete" takes DeleteQuota -> QuotaDeleted,
            "Deletes a quota policy. Executions that waited for it are ready again." => "Whether it existed.";

        get "/v1/schedules" -> SchedulesPage,
            "Lists the schedules of a namespace." => "One page, ordered by name.";
        get "/v1/schedules/{schedule}" -> ScheduleView,
            "Returns a schedule, its next ticks, and the outcome of its last ticks." => "The schedule.";
        get "/v1/schedules/{schedule}/next" -> NextTicks,
            "Returns the next ticks of a schedule." => "The next ticks; none while it is paused.";
        post "/v1/schedules/{schedule}" takes PutSchedule -> ScheduleView,
            "Creates or replaces a schedule." => "The schedule as it is now.";
        post "/v1/schedules/{schedule}/delete" takes DeleteSchedule -> ScheduleDeleted,
            "Deletes a schedule. Work it has started continues." => "Whether it existed.";
        post "/v1/schedules/{schedule}/pause" takes PauseSchedule -> ScheduleView,
            "Pauses a schedule until it is resumed." => "The schedule as it is now.";
        post "/v1/schedules/{schedule}/resume" takes ResumeSchedule -> ScheduleView,
            "Resumes a schedule. Ticks missed while it was paused do not run." => "The schedule as it is now.";
        post "/v1/schedules/{schedule}/trigger" takes TriggerSchedule -> TickRecord,
            "Runs a tick now, as the overlap policy allows." => "The outcome of the tick.";
        post "/v1/schedules/{schedule}/backfill" takes BackfillSchedule -> BackfilledTicks,
            "Runs the ticks of a past range, each once." => "The outcome of each tick.";

        get "/v1/budgets" -> Budgets,
            "Lists the budgets of a namespace." => "All of them, ordered by name.";
        get "/v1/budgets/{budget}" -> BudgetInfo,
            "Returns a budget and its usage." => "The budget, its period and its balance.";
        post "/v1/budgets/{budget}" takes PutBudget -> Budget,
            "Creates or replaces a budget. It is in force when the response arrives." => "The budget as it is now.";
        post "/v1/budgets/{budget}/reset" takes ResetBudget -> BudgetReset,
            "Resets a budget. Executions that waited for it are ready again." => "When it next resets by itself.";
        post "/v1/budgets/{budget}/delete" takes DeleteBudget -> BudgetDeleted,
            "Deletes a budget. Executions that waited for it are ready again." => "Whether it existed.";
        get "/v1/executions/{id}/usage" -> UsageInfo,
            "Returns the usage of an execution." => "In total, and by attempt.";
        get "/v1/flows/{flow}/usage" -> UsageInfo,
            "Returns the usage of the members of a flow." => "In total.";

        get "/v1/events" -> EventsPage,
            "Lists the events since a cursor, or streams them." => "One page, and the cursor of the next."
            .streams("Each page as an `events` event, until the server stops.");
        get "/v1/executions/{id}/events" -> EventsPage,
            "Lists the events of an execution since a cursor, or streams them." => "One page, and the cursor of the next."
            .streams("The state as an `execution` event, each page as an `events` event, and the end as an `end` event.");

        get "/v1/keys" -> KeysPage,
            "Lists all keys ever created, without secrets." => "One page.";
        post "/v1/keys" takes CreateKey -> NewKey,
            "Creates an API key." => "The same key was created before."
            .answers::<NewKey>(201, "The key. If the server generated it, it is shown only once.").refused(&[409]);
        post "/v1/keys/{key}/revoke" takes RevokeKey -> RevokedKey,
            "Revokes an API key." => "The key is revoked.";
    }
}

/// Describes the routes whose answers are no JSON of a known type.
pub(super) fn describe_text(api: &mut OpenApiBuilder) {
    let text = || json!({ "type": "string" });
    api.get("/metrics", "Returns the metrics, for Prometheus.")
        .answers_a(200, "text/plain", text(), "Every metric.")
        .answers_a(200, "application/openmetrics-text", text(), "Every metric.")
        .refused(&[404])
        .done();
    api.get("/openapi.json", "Returns this OpenAPI document.")
        .answers_a(200, "application/json", json!({ "type": "object" }), "This document.")
        .done();
    api.get("/approvals/{id}/{waitpoint}", "Shows the page of an approval link, for browsers.")
        .answers_a(200, "text/html", text(), "The page.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
    api.post("/approvals/{id}/{waitpoint}", "Submits the decision made on the approval page.")
        .takes_a("application/x-www-form-urlencoded", json!({ "type": "object" }))
        .answers_a(200, "text/html", text(), "The result, as a page.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
}
