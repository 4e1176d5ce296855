//! What travels over HTTP: requests and answers as the server and its clients read and write them, where they differ from the commands
//! and queries of ff-core.
//!
//! A body has `of`, which makes it of the arguments of a command, and `into_args`, which reads the arguments back: what the path names is
//! given, and what was left out has its default. Answers have `of` and an `into_…` in the same way.

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
    Batch, BatchItem, BatchReply, Bulk, BulkVerb, ExecutionEnd, Page, PayloadView, SetTags, Submit, TriedOutcome,
};
pub use flow::{
    CancelFlow, EdgeAddition, FlowCancellation, FlowGraph, FlowView, FlowsPage, GrowFlow, HolderOf, IncomingEdge,
    JoinBody, JoinOf, NewFlow, Node, Nodes, SubmitFlow, TagFlow, WaitForChildren,
};
pub use lane::{ConfigureLane, LanesPage};
pub use lease::{
    Claim, ClaimOf, ClaimedExecution, Claims, Complete, Delay, Fail, Grants, Input, LeaseCall, Progress, Renew,
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

/// The limit of a body with one payload: the largest payload as base64, and all other fields.
pub const PAYLOAD_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The limit of a body with one signal: the largest signal as base64, and all other fields.
pub const SIGNAL_BODY_BYTES: usize = 512 * 1024;

/// The limit of a schedule's body: the largest execution or flow a schedule starts, as base64, and all other fields.
pub const SCHEDULE_BODY_BYTES: usize = 512 * 1024;

/// The limit of a bulk submission's body.
pub const BATCH_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The limit of a flow's body: its largest payloads as base64, and the most nodes and edges.
pub const FLOW_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The header that makes a repeated submission, or signal, the same one.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
