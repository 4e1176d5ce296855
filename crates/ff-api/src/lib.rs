//! What travels over HTTP: requests and answers as the server and its clients read and write them, where they differ from the commands
//! and queries of ff-core.

pub mod access;
mod content;
mod doctor;
mod execution;
mod flow;
mod key;
mod lane;
mod lease;
mod object;
mod problem;
mod route;
#[cfg(feature = "schema")]
mod schema;
mod signal;
mod suspension;
mod trace;
mod unshown;
mod worker;

pub use content::{Base64, Content, Encoding};
pub use doctor::Deployment;
pub use doctor::{DoctorReport, Finding};
pub use execution::{Batch, Batched, Bulk, Bulking, Ended, Page, PayloadView, SetTags, Submit, Tried, TriedOutcome};
pub use flow::{
    After, CancelFlow, FlowGraph, FlowStopped, FlowView, FlowsPage, GrowFlow, GrownEdge, HolderOf, JoinOf, Joining,
    NewFlow, Node, Nodes, SubmitFlow, TagFlow, WaitForChildren,
};
pub use key::{CreateKey, NewKey, RevokeKey};
pub use lane::{ConfigureLane, LanesPage};
pub use lease::{Claim, ClaimOf, Claimed, Claims, Complete, Delay, Fail, Input, Progress, Renew};
pub use object::{Strict, object};
pub use problem::Problem;
pub use route::*;
pub use signal::{Deliver, ReceivedSignal};
pub use suspension::{
    Approval, Binding, CloseWaitpoint, CreateWaitpoint, Decide, FailedPartition, PublicUrl, RotateSecret,
    RotatedPartition, RotationReport, Secrets, Suspend, SuspendReply, TokenOf, Waitpoint, Waitpoints,
};
pub use trace::Trace;
pub use unshown::Unshown;
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
