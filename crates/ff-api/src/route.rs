//! All routes of the API, in two tables: calls with one operation on one subject, and the other routes. The tables define the
//! server's routes, their access, their description, and the client's calls.

use ff_core::contracts::*;
use ff_core::engine_error::Refusal;
use ff_core::limits::{CONTROL_BODY_BYTES, GRANT_TTL_MS};
use ff_core::operation::Ask;
use ff_core::types::{ExecutionId, FlowId, LeaseId, Namespace, Priority, TimestampMs, WorkerInstanceId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    AppendFrames, Complete, CreateWaitpoint, Delay, Fail, Fork, Heartbeat, Leave, PAYLOAD_BODY_BYTES, Progress,
    RecordStep, RecordStepReply, RegisterWorker, Renew, ReportUsage, SetTags, TagFlow, WaitForChildren,
};

/// The body of a call with one operation on one subject, which the path names.
pub trait Call: Serialize + DeserializeOwned + Send + Sync + 'static {
    type Args: Ask;
    /// The answer, on the wire.
    type Reply: Serialize
        + DeserializeOwned
        + From<<Self::Args as Ask>::Answer>
        + TryInto<<Self::Args as Ask>::Answer, Error: std::fmt::Display>
        + Send;
    /// The subject: the id or name in the path.
    type Subject: ToString + Send + 'static;

    const PATH: &str;
    const BODY_BYTES: usize;

    /// Returns the subject, and the body of the call.
    fn from_args(args: Self::Args) -> (Self::Subject, Self);

    /// Returns the arguments of the call about this subject.
    fn into_args(self, subject: Self::Subject) -> Result<Self::Args, Refusal>;

    /// Returns the namespace field of the body, if it has one.
    fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
        None
    }
}

/// The calls with one operation on one subject, all of them `POST`, as
/// `PATH ACCESS NAME: Body(Arguments, subject: Type) -> Answer, at most BYTES, refused [STATUS], SUMMARY => ANSWER`.
/// A row may have marks, as in [`routes`], before its summary.
#[macro_export]
macro_rules! calls {
    ($callback:ident) => {
        $callback! {
            "/v1/executions/{id}/cancel" SUBMIT_OR_OPERATE execution::cancel:
                Cancel(CancelArgs, execution_id: ExecutionId) -> CancelledExecution, at most CONTROL_BODY_BYTES, refused [409] Audited,
                "Cancels an execution in any live state." => "It is cancelled.";
            "/v1/executions/{id}/replay" OPERATE execution::replay:
                Replay(ReplayArgs, execution_id: ExecutionId) -> ReplayedExecution, at most CONTROL_BODY_BYTES, refused [409],
                "Runs a finished execution again." => "It is waiting again.";
            "/v1/executions/{id}/priority" OPERATE execution::change_priority:
                ChangePriority(ChangePriorityArgs, execution_id: ExecutionId) -> PriorityChanged, at most CONTROL_BODY_BYTES, refused [409],
                "Changes the priority of an execution." => "The old and the new priority.";
            "/v1/executions/{id}/deadline" OPERATE execution::extend_deadline:
                ExtendDeadline(ExtendDeadlineArgs, execution_id: ExecutionId) -> DeadlineExtended, at most CONTROL_BODY_BYTES, refused [409],
                "Changes the deadline of a live execution." => "The old and the new deadline.";
            "/v1/executions/{id}/hold" OPERATE execution::hold:
                Hold(HoldArgs, execution_id: ExecutionId) -> HoldPlaced, at most CONTROL_BODY_BYTES, refused [409],
                "Prevents claims of an execution until it is released. A running execution continues." => "It is held.";
            "/v1/executions/{id}/release" OPERATE execution::release_hold:
                ReleaseHold(ReleaseHoldArgs, execution_id: ExecutionId) -> HoldReleased, at most CONTROL_BODY_BYTES, refused [409],
                "Ends the hold of an execution." => "It is not held.";
            "/v1/executions/{id}/assign" OPERATE lease::assign:
                Assign(AssignArgs, execution_id: ExecutionId) -> GrantIssued, at most CONTROL_BODY_BYTES, refused [409],
                "Assigns a ready or blocked execution, or one with an expired lease, to one worker instance for a limited time." => "The assignment, with its expiry.";
            "/v1/executions/{id}/unassign" OPERATE lease::unassign:
                Unassign(UnassignArgs, execution_id: ExecutionId) -> GrantRevoked, at most CONTROL_BODY_BYTES, refused [409],
                "Ends the assignment of an execution before it expires." => "Any worker may claim it.";
            "/v1/executions/{id}/tags" SUBMIT_OR_OPERATE execution::set_tags:
                SetTags(SetTagsArgs, execution_id: ExecutionId) -> TaggedExecution, at most CONTROL_BODY_BYTES, refused [],
                "Adds and removes tags of an execution." => "All its tags.";
            "/v1/executions/{id}/revoke" OPERATE lease::revoke:
                Revoke(RevokeArgs, execution_id: ExecutionId) -> RevokedLease, at most CONTROL_BODY_BYTES, refused [409],
                "Revokes the lease of an execution." => "The lease is revoked.";
            "/v1/executions/{id}/renew" WORK lease::renew:
                Renew(RenewArgs, execution_id: ExecutionId) -> RenewedLease, at most CONTROL_BODY_BYTES, refused [409],
                "Renews the lease of an execution." => "The new expiry of the lease.";
            "/v1/executions/{id}/progress" WORK lease::progress:
                Progress(ProgressArgs, execution_id: ExecutionId) -> RecordedProgress, at most CONTROL_BODY_BYTES, refused [409],
                "Records the progress of the running attempt." => "The progress is recorded.";
            "/v1/executions/{id}/usage" WORK budget::report:
                ReportUsage(ReportUsageArgs, execution_id: ExecutionId) -> UsageReported, at most CONTROL_BODY_BYTES, refused [409],
                "Adds usage to the execution and to every budget that applies, once per report." => "Its usage, and the state of its budgets.";
            "/v1/executions/{id}/frames" WORK stream::append:
                AppendFrames(AppendFramesArgs, execution_id: ExecutionId) -> FramesAppended, at most PAYLOAD_BODY_BYTES, refused [409],
                "Appends frames to the stream of the running attempt." => "Numbers of the frames.";
            "/v1/executions/{id}/steps" WORK step::record:
                RecordStep(RecordStepArgs, execution_id: ExecutionId) -> RecordStepReply, at most PAYLOAD_BODY_BYTES, refused [409],
                "Records a step of an execution, once." => "Its number, and the step recorded before, if any.";
            "/v1/executions/{id}/fork" SUBMIT step::fork:
                Fork(ForkArgs, execution_id: ExecutionId) -> ForkedExecution, at most CONTROL_BODY_BYTES, refused [409],
                "Creates an execution from another one, with its recorded steps up to a given step." => "The new execution.";
            "/v1/executions/{id}/complete" WORK lease::complete:
                Complete(CompleteArgs, execution_id: ExecutionId) -> CompletedExecution, at most PAYLOAD_BODY_BYTES, refused [409],
                "Completes an execution with a result." => "It is completed.";
            "/v1/executions/{id}/fail" WORK lease::fail:
                Fail(FailArgs, execution_id: ExecutionId) -> FailedAttempt, at most CONTROL_BODY_BYTES, refused [409],
                "Fails the running attempt; the policy decides about a retry." => "What happens next.";
            "/v1/executions/{id}/delay" WORK lease::delay:
                Delay(DelayArgs, execution_id: ExecutionId) -> DelayedExecution, at most CONTROL_BODY_BYTES, refused [409],
                "Delays an execution; the same attempt continues later." => "The time it is delayed until.";
            "/v1/executions/{id}/waitpoints" WORK suspension::create_waitpoint:
                CreateWaitpoint(CreateWaitpointArgs, execution_id: ExecutionId) -> GrantedWaitpoint, at most CONTROL_BODY_BYTES, refused [409],
                "Creates a waitpoint before a suspension." => "The waitpoint and its token.";
            "/v1/executions/{id}/wait_for_children" WORK flow::wait_for_children:
                WaitForChildren(WaitForChildrenArgs, execution_id: ExecutionId) -> WaitedForChildren, at most CONTROL_BODY_BYTES, refused [409],
                "Gives up the lease until the members it added have ended." => "It waits, or the members have already ended.";
            "/v1/executions/{id}/cascade" OPERATE flow::cascade:
                Cascade(CascadeArgs, execution_id: ExecutionId) -> CascadeStep, at most CONTROL_BODY_BYTES, refused [409],
                "Notifies the dependents of an execution that has ended." => "Progress of the notification.";
            "/v1/flows/{flow}/close" GROW flow::close:
                CloseFlow(CloseFlowArgs, flow_id: FlowId) -> ClosedFlow, at most CONTROL_BODY_BYTES, refused [409],
                "Closes a flow: it ends when its last member ends." => "It is closed.";
            "/v1/flows/{flow}/tags" SUBMIT_OR_OPERATE flow::tags:
                TagFlow(SetFlowTagsArgs, flow_id: FlowId) -> TaggedFlow, at most CONTROL_BODY_BYTES, refused [],
                "Adds tags to a flow." => "All its tags.";
            "/v1/workers/{instance}/register" WORK worker::register:
                RegisterWorker(RegisterWorkerArgs, worker_instance_id: WorkerInstanceId) -> RegisteredWorker, at most CONTROL_BODY_BYTES within namespace, refused [409],
                "Registers a worker instance, or updates its registration." => "It is registered.";
            "/v1/workers/{instance}/heartbeat" WORK worker::heartbeat:
                Heartbeat(HeartbeatArgs, worker_instance_id: WorkerInstanceId) -> SeenWorker, at most CONTROL_BODY_BYTES within namespace, refused [],
                "Keeps a worker instance registered." => "The heartbeat is recorded.";
            "/v1/workers/{instance}/leave" WORK worker::leave:
                Leave(LeaveArgs, worker_instance_id: WorkerInstanceId) -> LeftWorker, at most CONTROL_BODY_BYTES within namespace, refused [],
                "Removes a worker instance." => "It is removed.";
        }
    };
}

/// The other routes, as `METHOD PATH ACCESS NAME: QUERY, MARKS`. A name is the handler in the server, and the operation id in
/// the API's description. The query parameters, if the route has any, are a struct of this crate. A mark changes how the server
/// treats requests to the route:
///
/// | mark | the server |
/// |---|---|
/// | `Waits` | expects a long poll or a stream: the requests have a separate share of the capacity and a longer time limit |
/// | `Page` | reads many rows: few of these requests run at once |
/// | `ManyCalls` | makes many calls to the store: the requests have a longer time limit |
/// | `HealthCheck` | answers even when it is full |
/// | `Audited` | writes a line to the audit log. Calls that only operators may make need no mark |
#[macro_export]
macro_rules! routes {
    ($callback:ident) => {
        $callback! {
            get  "/healthz"                                         OPEN              health::healthz, HealthCheck;
            get  "/readyz"                                          OPEN              health::readyz, HealthCheck;
            get  "/metrics"                                         DEPLOYMENT        metrics::show, ManyCalls;
            get  "/openapi.json"                                    OPEN              openapi::show;
            get  "/errors/{code}"                                   OPEN              meaning;
            get  "/approvals/{id}/{waitpoint}"                      OPEN              approval::show: ApprovalQuery;
            post "/approvals/{id}/{waitpoint}"                      OPEN              approval::decide;
            get  "/v1/partitions"                                   ANY               partitions;
            get  "/v1/session"                                      ANY               session::show;
            post "/v1/session"                                      ANY               session::begin;
            post "/v1/session/end"                                  OPEN              session::end;
            get  "/v1/activity"                                     READ              activity::show: ActivityQuery;
            get  "/v1/doctor"                                       DEPLOYMENT        doctor::examine: DoctorQuery, ManyCalls;
            get  "/v1/secrets"                                      ADMIN             secret::list;
            post "/v1/secrets/rotate"                               ADMIN             secret::rotate, ManyCalls;
            get  "/v1/deliveries"                                   DEPLOYMENT        signal::deliveries: DeliveriesQuery, Waits;
            get  "/v1/decisions"                                    OPERATE           decision::list: DecisionsQuery, Page;
            post "/v1/executions"                                   SUBMIT            execution::submit;
            get  "/v1/executions"                                   READ              execution::list: ExecutionsQuery, Page;
            post "/v1/executions/batch"                             SUBMIT            execution::submit_many, ManyCalls;
            post "/v1/executions/bulk"                              OPERATE           execution::bulk, ManyCalls, Audited;
            get  "/v1/executions/{id}"                              READ              execution::describe;
            get  "/v1/executions/{id}/events"                       READ              event::of_execution: ExecutionEventsQuery, Waits;
            get  "/v1/executions/{id}/explain"                      READ              execution::explain;
            get  "/v1/executions/{id}/payload"                      READ              execution::payload: PayloadQuery;
            get  "/v1/executions/{id}/result"                       READ              execution::result: ResultQuery, Waits;
            get  "/v1/executions/{id}/attempts"                     READ              execution::attempts;
            get  "/v1/executions/{id}/usage"                        READ              budget::of_execution;
            get  "/v1/executions/{id}/steps"                        READ              step::list: StepsQuery;
            get  "/v1/executions/{id}/stream"                       READ_STREAM       stream::read: StreamQuery, Waits;
            post "/v1/executions/{id}/stream/token"                 READ              stream::make_token;
            post "/v1/executions/{id}/suspend"                      WORK              suspension::suspend;
            post "/v1/executions/{id}/resume"                       OPERATE           suspension::resume;
            post "/v1/executions/{id}/approve"                      OPERATE           suspension::approve;
            post "/v1/executions/{id}/reject"                       OPERATE           suspension::reject;
            get  "/v1/executions/{id}/waitpoints"                   READ              suspension::waitpoints;
            get  "/v1/executions/{id}/waitpoints/{waitpoint}/token" OPERATE           suspension::token;
            post "/v1/executions/{id}/waitpoints/{waitpoint}/close" CLOSE             suspension::close_waitpoint;
            post "/v1/executions/{id}/signals"                      TOKEN             signal::deliver;
            get  "/v1/executions/{id}/signals"                      READ              signal::list: SignalsQuery;
            get  "/v1/executions/{id}/signals/{signal}"             READ              signal::read: SignalQuery;
            post "/v1/flows"                                        SUBMIT            flow::submit, ManyCalls;
            get  "/v1/flows"                                        READ              flow::list: FlowsQuery, Page, ManyCalls;
            get  "/v1/flows/{flow}"                                 READ              flow::describe: FlowQuery, Waits;
            get  "/v1/flows/{flow}/usage"                           READ              budget::of_flow;
            get  "/v1/flows/{flow}/members"                         READ              flow::members: MembersQuery, Page;
            get  "/v1/flows/{flow}/edges"                           READ              flow::edges: EdgesQuery, Page;
            get  "/v1/flows/{flow}/events"                          READ              flow::events: FlowEventsQuery, Waits;
            post "/v1/flows/{flow}/grow"                            GROW              flow::grow, ManyCalls;
            post "/v1/flows/{flow}/cancel"                          SUBMIT_OR_OPERATE flow::cancel: WaitQuery, Waits;
            post "/v1/flows/{flow}/nodes/{node}/replay"             OPERATE           flow::replay, Audited;
            get  "/v1/lanes"                                        READ              lane::list: LanesQuery, Page;
            get  "/v1/lanes/{lane}"                                 READ              lane::describe: NamespaceQuery;
            get  "/v1/lanes/{lane}/explain"                         READ              lane::explain: NamespaceQuery;
            post "/v1/lanes/{lane}"                                 OPERATE           lane::configure, Audited;
            get  "/v1/quotas"                                       READ              quota::list: NamespaceQuery;
            get  "/v1/quotas/{quota}"                               READ              quota::describe: NamespaceQuery;
            post "/v1/quotas/{quota}"                               OPERATE           quota::put, Audited;
            post "/v1/quotas/{quota}/delete"                        OPERATE           quota::delete, Audited;
            get  "/v1/schedules"                                    READ              schedule::list: SchedulesQuery;
            get  "/v1/schedules/{schedule}"                         READ              schedule::describe: NamespaceQuery;
            get  "/v1/schedules/{schedule}/next"                    READ              schedule::next: NextTicksQuery;
            post "/v1/schedules/{schedule}"                         OPERATE           schedule::put, Audited;
            post "/v1/schedules/{schedule}/delete"                  OPERATE           schedule::delete, Audited;
            post "/v1/schedules/{schedule}/pause"                   OPERATE           schedule::pause, Audited;
            post "/v1/schedules/{schedule}/resume"                  OPERATE           schedule::resume, Audited;
            post "/v1/schedules/{schedule}/trigger"                 OPERATE           schedule::trigger, Audited;
            post "/v1/schedules/{schedule}/backfill"                OPERATE           schedule::backfill, Audited;
            get  "/v1/budgets"                                      READ              budget::list: NamespaceQuery;
            get  "/v1/budgets/{budget}"                             READ              budget::describe: NamespaceQuery;
            post "/v1/budgets/{budget}"                             OPERATE           budget::put, Audited;
            post "/v1/budgets/{budget}/reset"                       OPERATE           budget::reset, Audited;
            post "/v1/budgets/{budget}/delete"                      OPERATE           budget::delete, Audited;
            get  "/v1/events"                                       OPERATE           event::list: EventsQuery, Waits;
            get  "/v1/grants"                                       READ              lease::grants: GrantsQuery;
            get  "/v1/workers"                                      OPERATE           worker::list: WorkersQuery, Page;
            post "/v1/worker/batch"                                 WORK              lease::batch, ManyCalls;
            post "/v1/workers/{instance}/claim"                     WORK              lease::claim, Waits;
            get  "/v1/workers/{instance}/control"                   WORK              lease::control: ControlQuery, Waits;
            get  "/v1/keys"                                         ADMIN             api_key::list: KeysQuery;
            post "/v1/keys"                                         ADMIN             api_key::create;
            post "/v1/keys/{key}/revoke"                            ADMIN             api_key::revoke;
        }
    };
}

/// Defines bodies with the fields of the arguments, without the subject, which the path names.
macro_rules! bodies {
    ($($(#[$doc:meta])* $body:ident for $args:ident($subject:ident: $type:ty) {
        $($(#[$attribute:meta])* $field:ident: $field_type:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $body {
            $($(#[$attribute])* pub $field: $field_type,)*
        }

        impl $body {
            /// Makes the body of the call.
            pub fn of(args: $args) -> Self {
                let $args { $($field,)* .. } = args;
                Self { $($field),* }
            }

            /// Returns the arguments of the call about this subject.
            pub fn into_args(self, $subject: $type) -> Result<$args, Refusal> {
                Ok($args { $subject, $($field: self.$field),* })
            }
        }
    )*};
}

bodies! {
    /// Cancels an execution.
    Cancel for CancelArgs(execution_id: ExecutionId) {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
    }
    /// Runs a finished execution again.
    Replay for ReplayArgs(execution_id: ExecutionId) {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
        /// Also replay its finished dependents in the flow.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reopen_downstream: bool,
        /// The first recorded step to run again, with all steps recorded after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_step: Option<StepPoint>,
    }
    /// Revokes the lease of an execution.
    Revoke for RevokeArgs(execution_id: ExecutionId) {
        /// If given, revoke only this lease.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_id: Option<LeaseId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Changes the priority of an execution.
    ChangePriority for ChangePriorityArgs(execution_id: ExecutionId) {
        priority: Priority,
    }
    /// Changes the deadline of an execution.
    ExtendDeadline for ExtendDeadlineArgs(execution_id: ExecutionId) {
        /// Must be in the future.
        deadline_at: TimestampMs,
    }
    /// Holds an execution.
    Hold for HoldArgs(execution_id: ExecutionId) {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
    }
    /// Ends the hold of an execution.
    ReleaseHold for ReleaseHoldArgs(execution_id: ExecutionId) {}
    /// Assigns an execution to one worker instance.
    Assign for AssignArgs(execution_id: ExecutionId) {
        worker_instance_id: WorkerInstanceId,
        /// How long the instance has to claim it.
        #[serde(default = "grant_ttl_ms")]
        ttl_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Default: the name of the API key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_by: Option<String>,
    }
    /// Ends an assignment.
    Unassign for UnassignArgs(execution_id: ExecutionId) {}
    /// Closes a flow: it ends when its last member ends.
    CloseFlow for CloseFlowArgs(flow_id: FlowId) {}
}

fn grant_ttl_ms() -> u64 {
    GRANT_TTL_MS
}

/// Notifies the dependents of an execution that has ended.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cascade {}

impl Cascade {
    /// Makes the body of the call.
    pub fn of(_: CascadeArgs) -> Self {
        Self {}
    }

    /// Returns the arguments of the call about this execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<CascadeArgs, Refusal> {
        Ok(CascadeArgs { execution_id, pending_since: None })
    }
}

macro_rules! define_calls {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {$(
        impl Call for $body {
            type Args = $args;
            type Reply = $answer;
            type Subject = $type;

            const PATH: &str = $path;
            const BODY_BYTES: usize = $bytes;

            fn from_args(args: $args) -> ($type, Self) {
                (args.$subject.clone(), Self::of(args))
            }

            fn into_args(self, subject: $type) -> Result<$args, Refusal> {
                self.into_args(subject)
            }

            $(fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
                Some(&mut self.$namespace)
            })?
        }
    )*};
}

calls!(define_calls);
