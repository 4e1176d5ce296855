//! Requests and answers as they travel, shared by the server and its clients.

mod bulk;
mod claim;
mod claimed;
mod condition;
mod content;
mod deployment;
mod doctor;
mod execution;
mod fenced;
mod flow;
mod holder;
mod key;
mod lane;
mod object;
mod problem;
#[cfg(feature = "schema")]
mod schema;
mod secret;
mod signal;
mod start;
mod steer;
mod submit;
mod suspend;
mod trace;
mod unshown;
mod waitpoint;
mod word;
mod worker;

pub use bulk::{Bulk, Bulking};
pub use claim::{Claim, ClaimOf};
pub use claimed::{Claimed, Claims, Input};
pub use content::{Base64, Content, Encoding};
pub use deployment::Deployment;
pub use doctor::{DoctorReport, Finding};
pub use execution::{Ended, Page, PayloadView};
pub use flow::{
    After, CancelFlow, Cascade, CloseFlow, FlowGraph, FlowStopped, FlowView, FlowsPage, GrowFlow, GrownEdge, HolderOf,
    JoinOf, Joining, NewFlow, Node, Nodes, SubmitFlow, TagFlow, WaitForChildren,
};
pub use holder::{Complete, Delay, Fail, Progress, Renew};
pub use key::{CreateKey, NewKey, RevokeKey};
pub use lane::{ConfigureLane, LanesPage};
pub use object::{Strict, object};
pub use problem::Problem;
pub use secret::{FailedPartition, RotateSecret, RotatedPartition, RotationReport, Secrets};
pub use signal::{Deliver, ReceivedSignal};
pub use steer::{Cancel, ChangePriority, Replay, Revoke, SetTags};
pub use submit::{Batch, Batched, Submit, Tried, TriedOutcome};
pub use suspend::{Approval, Binding, CreateWaitpoint, Suspend, SuspendReply};
pub use trace::Trace;
pub use unshown::Unshown;
pub use waitpoint::{CloseWaitpoint, Decide, TokenOf, Waitpoints};
pub use worker::{Heartbeat, Leave, RegisterWorker};

/// What the body of a request with one payload may hold: the largest payload as base64, and all other fields.
pub const PAYLOAD_BODY_BYTES: usize = 2 * 1024 * 1024;

/// What the body of a request with one signal may hold: the largest signal as base64, and all other fields.
pub const SIGNAL_BODY_BYTES: usize = 512 * 1024;

/// What the body of a bulk submission may hold.
pub const BATCH_BODY_BYTES: usize = 16 * 1024 * 1024;

/// What the body of a flow may hold: its largest payloads as base64, and as many nodes and edges as there may be.
pub const FLOW_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The header that makes a repeated submission, or signal, the same one.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
