//! The requests and answers of the HTTP API, for the server and its clients, where they differ from the commands and queries of
//! ff-core.
//!
//! The type of a body has two functions: `of` makes a body from the arguments of a command, and `into_args` turns it back into
//! arguments. `into_args` gets the subject from the path, if the path names one, and fills in the defaults of absent fields.
//! Answers have `of` and a function `into_…` in the same way.

pub mod access;
mod activity;
mod api_key;
mod budget;
mod content;
mod doctor;
mod event;
mod execution;
mod flow;
mod lane;
mod lease;
mod object;
mod problem;
mod query;
mod quota;
mod redacted;
mod route;
mod schedule;
mod schema;
mod session;
mod signal;
mod step;
mod stream;
mod suspension;
mod trace;
mod worker;

pub use activity::{Activity, ActivityQuery, Ends, KindActivity, LaneActivity, MinuteActivity};
pub use api_key::{CreateKey, KeysQuery, NewKey, RevokeKey};
pub use budget::{DeleteBudget, PutBudget, ResetBudget};
pub use content::{Base64, Content, Encoding};
pub use doctor::{Deployment, DoctorQuery, DoctorReport, Finding};
pub use event::{EventsQuery, ExecutionEventsQuery};
pub use execution::{
    Batch, BatchItem, BatchReply, Bulk, BulkVerb, ExecutionEnd, ExecutionsQuery, Page, PayloadQuery, PayloadView,
    ResultQuery, SetTags, Submit, SubmitOutcome,
};
pub use flow::{
    CancelFlow, EdgeAddition, EdgesQuery, FlowCancellation, FlowEventsQuery, FlowGraph, FlowHolder, FlowQuery,
    FlowView, FlowsPage, FlowsQuery, GraphLimit, GrowFlow, IncomingEdge, JoinBody, MemberJoin, MembersQuery, NewFlow,
    Node, Nodes, SubmitFlow, TagFilter, TagFlow, WaitForChildren,
};
pub use lane::{ConfigureLane, LanesPage, LanesQuery};
pub use lease::{
    Claim, ClaimRequest, ClaimedExecution, Claims, Complete, Delay, Fail, Grants, GrantsQuery, Input, LeaseCall,
    Progress, Renew, ReportUsage, WorkerBatch, WorkerBatchReply, WorkerCall, WorkerCallResult,
};
pub use object::{Strict, object};
pub use problem::Problem;
pub use query::Parameter;
pub use query::{Limit, NamespaceQuery, NoQuery, Query, TAG_PREFIX, WaitMs, WaitQuery};
pub use quota::{DeleteQuota, PutQuota};
pub use redacted::RedactedText;
pub use route::*;
pub use schedule::{
    BackfillSchedule, DeleteSchedule, NextTicksQuery, PauseSchedule, PutSchedule, ResumeSchedule, ScheduleView,
    SchedulesPage, SchedulesQuery, TriggerSchedule,
};
pub use session::{BeginSession, EndSession, Session};
pub use signal::{Deliver, DeliveriesQuery, ReceivedSignal, SignalQuery, SignalsQuery};
pub use step::{Fork, RecordStep, RecordStepReply, Step, StepFailure, StepsLimit, StepsPage, StepsQuery};
pub use stream::{
    AppendFrames, ItemKind, MakeStreamToken, NewFrame, StreamItem, StreamPage, StreamQuery, StreamTokenReply,
};
pub use suspension::{
    Approval, ApprovalQuery, Binding, CloseWaitpoint, CreateWaitpoint, Decide, Decision, Decisions, DecisionsQuery,
    FailedPartition, PublicUrl, RotateSecret, RotatedPartition, RotationReport, Secrets, Suspend, SuspendReply,
    Waitpoint, WaitpointTokenReply, Waitpoints,
};
pub use trace::Trace;
pub use worker::{ControlQuery, Heartbeat, Leave, RegisterWorker, WorkersQuery};

/// Maximum bytes of a body with one payload: enough for the largest payload as base64, and all other fields.
pub const PAYLOAD_BODY_BYTES: usize = 2 * 1024 * 1024;

/// Maximum bytes of a body with one signal: enough for the largest signal as base64, and all other fields.
pub const SIGNAL_BODY_BYTES: usize = 512 * 1024;

/// Maximum bytes of a schedule's body: enough for the largest execution or flow that a schedule starts, as base64, and all
/// other fields.
pub const SCHEDULE_BODY_BYTES: usize = 512 * 1024;

/// Maximum bytes of a bulk submission.
pub const BATCH_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Maximum bytes of a flow's body: enough for its largest payloads as base64, and the maximum of nodes and edges.
pub const FLOW_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The header with the idempotency key of a submission or signal.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
