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
mod execution;
mod flow;
mod lane;
mod lease;
mod object;
mod problem;
mod quota;
mod redacted;
mod route;
mod schedule;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod signal;
mod step;
mod stream;
mod suspension;
mod trace;
mod worker;

pub use activity::{Activity, Ends, KindActivity, LaneActivity, MinuteActivity};
pub use api_key::{CreateKey, NewKey, RevokeKey};
pub use budget::{DeleteBudget, PutBudget, ResetBudget};
pub use content::{Base64, Content, Encoding};
pub use doctor::Deployment;
pub use doctor::{DoctorReport, Finding};
pub use execution::{
    Batch, BatchItem, BatchReply, Bulk, BulkVerb, ExecutionEnd, Page, PayloadView, SetTags, Submit, SubmitOutcome,
};
pub use flow::{
    CancelFlow, EdgeAddition, FlowCancellation, FlowGraph, FlowHolder, FlowView, FlowsPage, GrowFlow, IncomingEdge,
    JoinBody, MemberJoin, NewFlow, Node, Nodes, SubmitFlow, TagFlow, WaitForChildren,
};
pub use lane::{ConfigureLane, LanesPage};
pub use lease::{
    Claim, ClaimRequest, ClaimedExecution, Claims, Complete, Delay, Fail, Grants, Input, LeaseCall, Progress, Renew,
    ReportUsage, WorkerBatch, WorkerBatchReply, WorkerCall, WorkerCallResult,
};
pub use object::{Strict, object};
pub use problem::Problem;
pub use quota::{DeleteQuota, PutQuota};
pub use redacted::RedactedText;
pub use route::*;
pub use schedule::{
    BackfillSchedule, DeleteSchedule, PauseSchedule, PutSchedule, ResumeSchedule, ScheduleView, SchedulesPage,
    TriggerSchedule,
};
pub use session::{BeginSession, EndSession, Session};
pub use signal::{Deliver, ReceivedSignal};
pub use step::{Fork, RecordStep, RecordStepReply, Step, StepFailure, StepsPage};
pub use stream::{AppendFrames, ItemKind, MakeStreamToken, NewFrame, StreamItem, StreamPage, StreamTokenReply};
pub use suspension::{
    Approval, Binding, CloseWaitpoint, CreateWaitpoint, Decide, Decision, Decisions, FailedPartition, PublicUrl,
    RotateSecret, RotatedPartition, RotationReport, Secrets, Suspend, SuspendReply, TokenOf, Waitpoint, Waitpoints,
};
pub use trace::Trace;
pub use worker::{Heartbeat, Leave, RegisterWorker};

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
